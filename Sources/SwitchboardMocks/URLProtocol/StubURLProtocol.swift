import SwitchboardPlatform
import Foundation
import Switchboard

/// Answers the requests of URLSessions from the stub that its class belongs to. See ``StubProtocolClasses``.
class StubURLProtocol: URLProtocol {
    /// Locked, since Foundation starts and stops on queues of its own.
    private let load = Protected<StubLoad?>(nil)

    /// Every request, so that none reaches the network.
    override class func canInit(with request: URLRequest) -> Bool { true }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override class func requestIsCacheEquivalent(_ one: URLRequest, to other: URLRequest) -> Bool { false }

    /// Foundation calls it again when a running task is resumed once more, and after a suspension, which stops it. It may
    /// also call it for a task that was cancelled, after having stopped it.
    override func startLoading() {
        guard task?.state == .running else { return }
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
