#if canImport(FoundationNetworking)
import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@testable import SwitchboardURLSession

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

    @Test("a download task whose request has a body is refused")
    func downloadWithBody() async throws {
        let session = NetworkManager(session: StubSession { _ in .text("unused") }).urlSession()
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data("body".utf8)
        let error = await #expect(throws: URLError.self) { try await session.download(for: request) }
        #expect(error?.code == .unsupportedURL)
    }

    @Test("an upload from a delegate's stream is refused, also with a body", arguments: [nil, Data("stale".utf8)])
    func delegateStream(body: Data?) async throws {
        let delegate = Refusals()
        let stub = StubSession { _ in .text("unused") }
        stub.urlSession(delegate: delegate).uploadTask(withStreamedRequest: URLRequest("PUT", url, body: body)).resume()
        let end = try await delegate.ends.first()
        let refusal = try #require(end)
        #expect(refusal.code == .unsupportedURL)
        #expect(refusal.localizedDescription.contains("upload"))
        #expect(stub.requests.isEmpty)
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
        // Where libcurl supports no WebSockets, Foundation itself has refused the task.
        let request = ProtocolRequest(urlRequest: URLRequest(url: url), task: task)
        let error = #expect(throws: NetworkError.self) { try request.uploadedBody }
        #expect(error?.code == .unsupported && error?.reason?.contains("lets no URLProtocol open a WebSocket") == true)
    }

    @Test(
        "a delegate may decline a redirect that the rules refuse",
        arguments: [
            ("com.app:/callback?code=1", "com.app:/callback?code=1"), ("http://h.example/", "http://h.example/"),
            ("com.app:/callback?code=a%20b|c", "com.app:/callback?code=a%20b%7Cc"),
        ], [true, false])
    func refusedRedirect(to: (location: String, url: String), declines: Bool) async throws {
        let stub = StubSession { _ in .status(302, headers: ["Location": to.location], body: "moved") }
        let proposed = Deliveries<URLRequest>()
        let delegate = TaskDelegate(redirect: {
            proposed.add($0)
            return declines ? nil : $0
        })
        let request = URLRequest("GET", URL(text: "https://h.example/a"), headers: ["Authorization": "Bearer secret"])
        stub.urlSession(delegate: delegate).dataTask(with: request).resume()
        let end = try await delegate.ends.first()
        let expected: URLError.Code? = declines ? nil : .redirectToNonExistentLocation
        #expect(end == expected)
        #expect(delegate.statuses.all == [302])
        if declines { #expect(delegate.data.all.reduce(Data(), +) == Data("moved".utf8)) }
        #expect(proposed.all.map(\.url?.absoluteString) == [to.url])
        #expect(proposed.all.allSatisfy { $0.value(forHTTPHeaderField: "Authorization") == nil })
        #expect(stub.requests.count == 1)
    }

    @Test("a delegate may decline a redirect of a stream, which is the answer")
    func refusedStream() async throws {
        let stub = StubSession { _ in .status(307, headers: ["Location": "/next"]) }
        let delegate = TaskDelegate(redirect: { _ in nil })
        var request = URLRequest("PUT", URL(text: "https://h.example/a"))
        request.httpBodyStream = InputStream(data: Data(count: 2_000_000))
        let (_, response) = try await stub.urlSession(delegate: delegate).data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 307)
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Location") == "/next")
        #expect(delegate.redirects.all == [307])
    }

    @Test("the configuration's timeout applies")
    func configurationTimeout() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 9
        let stub = StubSession(.status(204))
        _ = try await stub.urlSession(configuration).data(from: url)
        #expect(stub.requests.first?.timeouts.idle == .seconds(9))
    }

    @Test("a session answers for its cache at once, and leaves the app's cache alone")
    func appCache() async throws {
        let url = try #require(URL(string: "https://app-cache.example/\(UUID().uuidString)"))
        let app = URLCache(memoryCapacity: 0, diskCapacity: 1 << 20, diskPath: nil)
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: [:]))
        let request = URLRequest(url: url)
        app.storeCachedResponse(CachedURLResponse(response: response, data: Data("app".utf8)), for: request)
        defer { app.removeCachedResponse(for: request) }
        #expect(app.cachedResponse(for: request) != nil)

        let session = StubSession(.stall).urlSession()
        let cache = try #require(session.configuration.urlCache)
        let answers = Deliveries<Bool>()
        cache.getCachedResponse(for: session.dataTask(with: url)) { answers.add($0 == nil) }
        #expect(answers.all == [true])
        #expect(cache.cachedResponse(for: request) == nil)
        cache.removeCachedResponse(for: request)
        cache.removeCachedResponses(since: .distantPast)
        await withCheckedContinuation { done in session.reset { done.resume() } }
        #expect(app.cachedResponse(for: request) != nil)
        session.invalidateAndCancel()
    }

    @Test("the delegate of a call receives its progress, and that of the session does not")
    func progressOfCall() async throws {
        let source = AdHocSession { request in
            request.options.onBodySent?(10)
            return NetworkResponse(statusCode: 204, url: request.url)
        }
        let (ofSession, ofCall) = (TaskDelegate(), TaskDelegate())
        let session = source.urlSession(delegate: ofSession)
        _ = try await session.upload(for: URLRequest("POST", url), from: Data(count: 10), delegate: ofCall)
        let sent = try await ofCall.sent.first()
        #expect(sent == [10, 10, 10])
        #expect(ofSession.sent.all.isEmpty)
    }

    @Test("only a running task starts a loading")
    func taskStates() throws {
        let session = StubSession(.stall).urlSession()
        let tasks = (0..<3).map { _ in session.dataTask(with: url) }
        tasks[1].resume()
        tasks[2].cancel()
        #expect(tasks.map { $0.state == .running } == [false, true, false])
        let loadings = tasks.map { ChainURLProtocol(task: $0, cachedResponse: nil, client: LoadingClient()) }
        for loading in loadings { loading.startLoading() }
        #expect(loadings.map(\.isLoading) == [false, true, false])
        session.invalidateAndCancel()
    }

    @Test("a stop that comes after the task runs again is ignored")
    func lateStop() {
        let session = StubSession(.stall).urlSession()
        let task = session.dataTask(with: url)
        let loading = ChainURLProtocol(task: task, cachedResponse: nil, client: LoadingClient())
        task.resume()
        loading.startLoading()
        // Foundation 6.3 stops after it starts if the task is suspended and resumed right after its first `resume()`.
        loading.stopLoading()
        #expect(loading.isLoading)
        task.suspend()
        loading.stopLoading()
        #expect(!loading.isLoading)
        session.invalidateAndCancel()
    }

    @Test("a suspended task starts again")
    func suspended() async throws {
        let clock = TestClock()
        let delegate = TaskDelegate()
        let stub = StubSession(clock: clock, .text("late").delayed(by: .seconds(5)), .text("there"))
        let task = stub.urlSession(delegate: delegate).dataTask(with: url)
        task.resume()
        _ = try await clock.nextSleep()
        task.suspend()
        task.resume()
        #expect(try await delegate.ends.first() == nil)
        #expect(delegate.data.all == [Data("there".utf8)])
        #expect(stub.requests.count == 2)
    }

    @Test("a task suspended before its response sends no POST and no stream twice", arguments: [true, false])
    func suspendedUpload(isStream: Bool) async throws {
        let sends = Deliveries<NetworkRequest>()
        let mayAnswer = Gate()
        let session = AdHocSession { request in
            sends.add(request)
            var body = request.body.isStreamed ? Data() : try request.body.encode()
            if request.body.isStreamed { for try await chunk in try request.body.makeStream() { body += chunk } }
            try await mayAnswer.wait()
            return NetworkResponse(statusCode: 200, body: Data("\(body.count)".utf8), url: request.url)
        }.urlSession()
        var request = URLRequest(isStream ? "PUT" : "POST", url)
        if isStream {
            request.httpBodyStream = InputStream(data: Data(count: 200_000))
        } else {
            request.httpBody = Data(count: 200_000)
        }
        let texts = Deliveries<String>()
        let task = session.dataTask(with: request) { data, _, error in
            texts.add(error.map { "\($0)" } ?? String(decoding: data ?? Data(), as: UTF8.self))
        }
        task.resume()
        _ = try await sends.first()
        task.suspend()
        let queue = try #require(task.workQueue)
        await withCheckedContinuation { done in queue.async { done.resume() } }  // Foundation has stopped the loading
        mayAnswer.open()
        task.resume()
        #expect(try await texts.first() == "200000")
        #expect(sends.all.count == 1)
    }

    @Test("a loading that has ended never begins again")
    func stopAfterEnd() async {
        let session = StubSession(.stall).urlSession()
        let task = session.dataTask(with: url)
        let client = LoadingClient()
        let loading = ChainURLProtocol(task: task, cachedResponse: nil, client: client)
        task.resume()
        // Its class belongs to no session, so it fails.
        #expect(await client.end(of: loading) == .cannotConnectToHost)
        task.suspend()
        loading.stopLoading()
        #expect(loading.isLoading)
        session.invalidateAndCancel()
    }

    @Test("an await ends although its cancellation waits for the session's queue")
    func cancelAtEnd() async throws {
        let requests = Deliveries<NetworkRequest>()
        let queues = Deliveries<DispatchQueue>()
        let call = Protected<Task<Data, any Error>?>(nil)
        let unblock = DispatchSemaphore(value: 0)
        let session = AdHocSession { request in
            requests.add(request)
            let queue = try await queues.first()
            // All sessions of the process wait for this queue, so nothing may suspend until it continues.
            queue.async { unblock.wait() }
            var response = NetworkResponse(statusCode: 200, url: request.url)
            response.request = request
            response.request?[AtRelease.self] = AtRelease {
                // The end of the loading waits for the queue now, and the cancellation after it.
                let thread = SleepingThread { call.value?.cancel() }
                for _ in 0..<100_000 where !thread.isAsleep { usleep(100) }
                unblock.signal()
            }
            return response
        }.urlSession()
        let task = Task { try await session.data(from: url).0 }
        _ = call.swap(task)
        _ = try await requests.first()
        let tasks = await withCheckedContinuation { done in session.getAllTasks { done.resume(returning: $0) } }
        queues.add(try #require(tasks.first?.workQueue))
        switch await task.result {
        case .success(let data): #expect(data.isEmpty)
        case .failure(let error): #expect((error as? URLError)?.code == .cancelled)
        }
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

/// Calls a closure when the request that has it is released.
private final class AtRelease: RequestOption, Sendable {
    static var defaultValue: AtRelease? { nil }
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    deinit {
        body()
    }
}

/// A thread that tells whether it waits in the system.
private final class SleepingThread: Sendable {
    private let path = Protected<String?>(nil)

    init(_ body: @escaping @Sendable () -> Void) {
        Thread.detachNewThread { [path] in
            _ = path.swap(try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self"))
            body()
            _ = path.swap(nil)
        }
    }

    var isAsleep: Bool {
        guard let path = path.value else { return false }
        return (try? String(contentsOfFile: "/proc/\(path)/stat", encoding: .utf8))?.contains(") S ") == true
    }
}

/// Records the errors of tasks, with their texts.
private final class Refusals: NSObject, URLSessionDataDelegate {
    let ends = Deliveries<URLError?>()

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ends.add(error as? URLError)
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
