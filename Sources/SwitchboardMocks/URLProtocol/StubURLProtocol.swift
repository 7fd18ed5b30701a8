import SwitchboardPlatform
import Foundation
import Switchboard

/// Answers the requests of URLSessions from the stub of its class. See ``StubProtocolClasses``.
class StubURLProtocol: URLProtocol {
    /// Locked, because Foundation starts and stops on its internal queues.
    private let load = Protected<StubLoad?>(nil)

    /// Accepts every request, so that none reaches the network.
    override class func canInit(with request: URLRequest) -> Bool { true }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override class func requestIsCacheEquivalent(_ one: URLRequest, to other: URLRequest) -> Bool { false }

    /// Returns whether to load for a task in this state. Nil is a loading without a task.
    static func loads(
        in state: URLSessionTask.State?, startsStoppedTasks: Bool = ProtocolClient.startsStoppedTasks
    ) -> Bool {
        !startsStoppedTasks || state == nil || state == .running
    }

    /// Starts the loading unless it runs already. The open-source Foundation calls this method again when a running
    /// task is resumed once more, and after a suspension, which stops the loading. It may also call it for a canceled
    /// task, after it stopped the loading. On Apple's systems each call starts a loading that someone waits for.
    override func startLoading() {
        guard Self.loads(in: task?.state) else { return }
        let new = StubLoad(of: self)
        let isFirst = load.withLock { load in
            guard load == nil else { return false }
            load = new
            return true
        }
        if isFirst { new.start(from: StubProtocolClasses.shared.stub(of: type(of: self))) }
    }

    override func stopLoading() {
        let old = load.withLock { load in
            defer { load = nil }
            return load
        }
        old?.stop()
    }
}
