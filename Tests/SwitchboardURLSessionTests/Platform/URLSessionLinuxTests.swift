#if canImport(FoundationNetworking)
import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardTesting
import SwitchboardURLSession
import Testing

/// The limits of a URLProtocol on Linux. A failure here means that Foundation has fewer limits than documented.
@Suite(.timeLimit(.minutes(10)))
struct URLSessionLinuxTests {
    private let url = URL(text: "https://h.example/p")

    @Test("a download task is refused")
    func download() async throws {
        let session = NetworkManager(session: StubSession { _ in .text("unused") }).urlSession()
        let error = await #expect(throws: URLError.self) { try await session.download(from: url) }
        #expect(error?.code == .unsupportedURL)
        #expect(error?.localizedDescription.contains("download tasks") == true)
    }

    @Test("a WebSocket task is refused")
    func webSocket() async throws {
        let stub = StubSession { _ in .text("unused") }
        let delegate = TaskDelegate()
        let task = NetworkManager(session: stub).urlSession(delegate: delegate).webSocketTask(
            with: URL(text: "wss://h.example/"))
        task.resume()
        #expect(try await delegate.ends.first() == .unsupportedURL)
        #expect(stub.requests.isEmpty)
    }

    @Test("a task has no metrics, and its Progress does not move")
    func metrics() async throws {
        let delegate = MetricsDelegate()
        let session = NetworkManager(session: StubSession(.text("there"))).urlSession(delegate: delegate)
        let task = session.dataTask(with: url)
        task.resume()
        _ = try await delegate.ends.first()
        #expect(delegate.metrics.all.isEmpty)
        #expect(task.progress.completedUnitCount == 0 && task.countOfBytesReceived == 0)
    }

    @Test("the answer of a delegate to a response is ignored")
    func disposition() async throws {
        let delegate = MetricsDelegate()
        NetworkManager(session: StubSession(.text("there"))).urlSession(delegate: delegate).dataTask(with: url).resume()
        #expect(try await delegate.ends.first() == nil)
        #expect(delegate.data.all == [Data("there".utf8)])
    }
}

/// Refuses each response, and records metrics.
private final class MetricsDelegate: NSObject, URLSessionDataDelegate {
    let metrics = Deliveries<Int>()
    let data = Deliveries<Data>()
    let ends = Deliveries<URLError.Code?>()

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(.cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        self.data.add(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        self.metrics.add(1)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ends.add((error as? URLError)?.code)
    }
}
#endif
