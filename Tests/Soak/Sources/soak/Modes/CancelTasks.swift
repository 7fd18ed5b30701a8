import Foundation
import Switchboard
import SwitchboardURLSession

/// Tasks of URLSessions of one router, each in a session of its own. Each ends at a random moment by its task, its
/// delegate, its session, the router, a reset or the server.
struct CancelTasks {
    let count: Int
    let seed: UInt64
    let router: Router<URLEndPoint>
    let server: ServerProcess
    private static let inFlight = 12

    private enum Means {
        case task, awaiting, delegate, session, router, reset, server

        init(_ random: inout SeededGenerator) {
            self =
                switch random.number(0...39) {
                case 0: .reset
                case 1...3: .router
                case 4...11: .session
                case 12...19: .delegate
                case 20...27: .awaiting
                case 28...33: .server
                default: .task
                }
        }
    }

    func run() async throws -> Report {
        say("\(count) tasks of URLSessions, each ended at a random moment, \(Self.inFlight) at a time, seed \(seed)")
        let stage = try CancelStage(base: server.url)
        defer { try? FileManager.default.removeItem(at: stage.folder) }
        let file = stage.folder.appendingPathComponent("upload")
        try Pattern.data(at: 0, count: CancelledTask.uploadSize).write(to: file)
        let ledger = Ledger(count)
        return await ledger.report(warmUp: min(count / 2, 2_000), slack: Self.inFlight) { range in
            await inParallel(Self.inFlight, range) { await play($0, stage, file, ledger) }
        }
    }

    private func play(_ index: Int, _ stage: CancelStage, _ file: URL, _ ledger: Ledger) async {
        var random = SeededGenerator(seed, index)
        let means = Means(&random)
        let kind = CancelledTask.allCases.filter { means != .server || $0.endsAlone }.randomElement(using: &random)
        guard let kind else { return }
        let what = "\(kind), ended by \(means)"
        ledger.begin(index, what)
        let observer = TaskObserver(kind, cancels: means == .delegate)
        let session = router.urlSession(delegate: means == .awaiting ? nil : observer)
        if means == .awaiting {
            let call = Task { try await kind.load(stage, file, session) }
            try? await Task.sleep(for: .microseconds(random.number(0...6_000)))
            call.cancel()
            observer.end(await call.result)
            session.finishTasksAndInvalidate()
        } else {
            await end(kind.make(stage, file, session), of: session, observer, by: means, &random)
        }
        for fault in observer.faults { ledger.fault("round \(index), \(what): \(fault)") }
        ledger.end(index, observer.outcome)
    }

    private func end(
        _ task: URLSessionTask, of session: URLSession, _ observer: TaskObserver, by means: Means,
        _ random: inout SeededGenerator
    ) async {
        task.resume()
        if random.number(0...4) == 0 {
            task.suspend()
            try? await Task.sleep(for: .microseconds(random.number(0...2_000)))
            task.resume()
        }
        try? await Task.sleep(for: .microseconds(random.number(0...6_000)))
        // Repeats until the task has ended, because the router cannot cancel a call that has not begun.
        while !observer.isOver {
            switch means {
            case .router: router.cancel()
            case .reset: await router.reset()
            case .session: session.invalidateAndCancel()
            case .task: task.cancel()
            // The server may stall before the delegate receives anything.
            case .delegate: if !observer.kind.endsAlone { task.cancel() }
            case .server, .awaiting: break
            }
            try? await Task.sleep(for: .milliseconds(1))
        }
        session.finishTasksAndInvalidate()
        while !observer.isInvalid { try? await Task.sleep(for: .milliseconds(1)) }
    }
}

/// What a task of ``CancelTasks`` requests.
enum CancelledTask: CaseIterable {
    case plain, slow, stalled, large, stalledInside, cut, dropped, missing
    case upload, uploadOfFile, uploadOfStream, uploadSlowly, refusedUpload

    static let uploadSize = 300_000

    /// Whether the server ends the exchange.
    var endsAlone: Bool { self != .stalled && self != .stalledInside }

    private var path: String {
        switch self {
        case .plain: "small/7"
        case .slow: "slow/3/7"
        case .stalled: "stall"
        case .large: "large/1000000"
        case .stalledInside: "stall-inside/200000"
        case .cut: "cut/100000"
        case .dropped: "drop"
        case .missing: "missing"
        case .upload, .uploadOfFile, .uploadOfStream: "take"
        case .uploadSlowly: "take/2"
        case .refusedUpload: "refuse"
        }
    }

    private func request(_ stage: CancelStage) -> URLRequest {
        var request = URLRequest(url: stage.url(path))
        switch self {
        case .uploadOfStream:
            request.httpMethod = "PUT"
            request.httpBodyStream = InputStream(data: Self.uploadedData)
        case .upload, .uploadOfFile, .uploadSlowly, .refusedUpload: request.httpMethod = "PUT"
        default: break
        }
        return request
    }

    private static var uploadedData: Data { Pattern.data(at: 0, count: uploadSize) }

    func make(_ stage: CancelStage, _ file: URL, _ session: URLSession) -> URLSessionTask {
        let request = request(stage)
        return switch self {
        case .upload, .uploadSlowly, .refusedUpload: session.uploadTask(with: request, from: Self.uploadedData)
        case .uploadOfFile: session.uploadTask(with: request, fromFile: file)
        default: session.dataTask(with: request)
        }
    }

    func load(_ stage: CancelStage, _ file: URL, _ session: URLSession) async throws -> Data {
        let request = request(stage)
        return switch self {
        case .upload, .uploadSlowly, .refusedUpload:
            try await session.upload(for: request, from: Self.uploadedData).0
        case .uploadOfFile: try await session.upload(for: request, fromFile: file).0
        default: try await session.data(for: request).0
        }
    }

    /// Returns whether the bytes are the server's answer.
    func accepts(_ body: Data) -> Bool {
        switch self {
        case .plain, .slow: body == Data("answer 7\n".utf8)
        case .large: body.count == 1_000_000 && Pattern.matches(body, at: 0)
        case .stalled, .stalledInside, .cut, .dropped: false
        case .missing: body == Data("no such path".utf8)
        case .upload, .uploadOfFile, .uploadOfStream, .uploadSlowly:
            body == Data("\(Self.uploadSize) \(Pattern.sum(Self.uploadSize))".utf8)
        case .refusedUpload: body == Data("no".utf8)
        }
    }

    /// Returns whether the server may cause the error.
    func permits(_ code: URLError.Code) -> Bool {
        switch self {
        case .cut, .dropped, .refusedUpload: code == .networkConnectionLost
        default: false
        }
    }
}

/// The delegate of one task, which records its end, and cancels it in its callbacks or not.
private final class TaskObserver: NSObject, URLSessionDataDelegate {
    private struct State {
        var body = Data()
        var outcomes: [String] = []
        var faults: [String] = []
        var isInvalid = false
    }

    let kind: CancelledTask
    private let cancels: Bool
    private let state = Locked(State())

    init(_ kind: CancelledTask, cancels: Bool) {
        self.kind = kind
        self.cancels = cancels
    }

    var isInvalid: Bool { state.withLock { $0.isInvalid } }
    /// Foundation may invalidate a session before it reports the ends of the tasks that this cancels.
    var isOver: Bool { state.withLock { !$0.outcomes.isEmpty || $0.isInvalid } }
    var outcome: String { state.withLock { $0.outcomes.first ?? "invalidated" } }
    var faults: [String] {
        state.withLock { $0.faults + ($0.outcomes.count > 1 ? ["it ended \($0.outcomes.count) times"] : []) }
    }

    func end(_ result: Result<Data, any Error>) {
        state.withLock { state in
            switch result {
            case .success(let body):
                state.outcomes.append("value")
                if !kind.accepts(body) { state.faults.append("a wrong body of \(body.count) bytes") }
            case .failure(let error):
                let code = (error as? URLError)?.code
                state.outcomes.append(code == .cancelled ? "cancelled" : "failed")
                if code != .cancelled, code.map(kind.permits) != true { state.faults.append("\(error)") }
            }
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if cancels { dataTask.cancel() }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.body += data }
        if cancels { dataTask.cancel() }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        if cancels, totalBytesSent > 100_000 { task.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end(error.map { .failure($0) } ?? .success(state.withLock { $0.body }))
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        state.withLock { $0.isInvalid = true }
    }
}
