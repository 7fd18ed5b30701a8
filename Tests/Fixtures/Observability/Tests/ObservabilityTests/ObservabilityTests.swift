import Foundation
import InMemoryLogging
import InMemoryTracing
import Logging
import Metrics
import MetricsTestKit
import Switchboard
import SwitchboardTesting
import Testing
import Tracing

@testable import Observability

/// The metrics and the tracer of a process are set once.
private let metrics: TestMetrics = {
    let metrics = TestMetrics()
    MetricsSystem.bootstrap(metrics)
    return metrics
}()
private let tracer: InMemoryTracer = {
    let tracer = InMemoryTracer()
    InstrumentationSystem.bootstrap(tracer)
    return tracer
}()

@Suite(.timeLimit(.minutes(10)))
struct ObservabilityTests {
    private let url = URL(filePath: "/")

    private func endPoint(_ host: String) throws -> URLEndPoint {
        URLEndPoint(.get, try #require(URL(string: "https://\(host)/films?api_key=12345")))
    }

    @Test("a retried call is logged with its levels, its id and no secret")
    func log() async throws {
        let handler = InMemoryLogHandler()
        var logger = Logger(label: "calls") { _ in handler }
        logger.logLevel = .debug
        let session = StubSession(.status(503), .json("[]"))
        let monitor = LogMonitor(logger: logger)
        let manager = NetworkManager(
            session: session, interceptors: [RetryPolicy(clock: TestClock(skips: true))],
            options: RequestOptions { $0.monitors.append(monitor) })
        _ = try await manager.response(for: endPoint("log.example"))
        let entries = handler.entries
        #expect(entries.first?.level == .debug && entries.last?.level == .info)
        #expect(entries.contains { $0.level == .warning && "\($0.message)".contains("503") })
        #expect(Set(entries.map { "\($0.metadata)" }).count == 1)
        #expect(entries.allSatisfy { !"\($0.message)".contains("12345") })
    }

    @Test("durations are recorded by outcome, and retries are counted")
    func durations() async throws {
        let metrics = metrics
        let session = StubSession(
            .status(503), .json("[]"), .failure(.cannotFindHost), .failure(.cannotFindHost), .failure(.cancelled))
        let manager = NetworkManager(
            session: session,
            interceptors: [RetryPolicy(maximumAttempts: 2, clock: TestClock(skips: true))],
            options: RequestOptions { $0.monitors.append(MetricsMonitor()) })
        let films = try endPoint("metrics.example")
        _ = try await manager.response(for: films)
        #expect(metrics.counterTotal(label: "http_client_retries", dimensions: [("host", "metrics.example")]) == 1)
        await #expect(throws: NetworkError.self) { try await manager.response(for: films) }
        await #expect(throws: CancellationError.self) { try await manager.response(for: films) }
        session.verify()
        let timers = metrics.timers(label: "http_client_call").filter { timer in
            timer.dimensions.contains { $0 == ("host", "metrics.example") }
        }
        let outcomes = timers.compactMap { $0.dimensions.last?.1 }.sorted()
        #expect(outcomes == ["200", "cancelled", "cannotFindHost"])
        #expect(timers.allSatisfy { $0.values.count == 1 })
    }

    @Test("each exchange has its own parent id within the trace of the task")
    func traceParent() async throws {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        let session = StubSession { _ in .json("[]") }
        let manager = NetworkManager(session: session, exchangeInterceptors: [TraceParent()])
        try await TraceParent.$traceID.withValue(trace) {
            for _ in 0..<2 { _ = try await manager.response(for: endPoint("trace.example")) }
        }
        _ = try await manager.response(for: endPoint("trace.example"))
        let sent = session.requests.compactMap { $0.headers["traceparent"] }
        // Trace Context §3.2: version, trace-id, parent-id and flags.
        #expect(sent.allSatisfy { $0.wholeMatch(of: /00-[0-9a-f]{32}-[0-9a-f]{16}-01/) != nil })
        #expect(sent.count == 3 && Set(sent).count == 3)
        #expect(sent.prefix(2).allSatisfy { $0.contains(trace) } && !sent[2].contains(trace))
    }

    @Test("each attempt is a span whose context the server receives")
    func spans() async throws {
        let tracer = tracer
        let session = StubSession(.status(503), .json("[]"))
        let manager = NetworkManager(
            session: session,
            interceptors: [RetryPolicy(clock: TestClock(skips: true)), Traced()])
        _ = try await manager.response(for: endPoint("span.example"))
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["GET", "GET"] && spans.allSatisfy { $0.kind == .client })
        #expect(spans.map { $0.status?.code } == [.error, nil])
        let sent = session.requests.map { $0.headers[InMemoryTracer.spanIDKey] }
        #expect(Set(sent) == Set(spans.map { $0.spanID }))
    }
}
