import SwitchboardPlatform
import SwitchboardText
import Foundation

/// Logs requests and responses, with secrets replaced.
///
/// ```swift
/// let manager = NetworkManager(
///     interceptors: [NetworkLogger(level: .body)])
/// ```
///
/// ``Level/basic`` writes one line for each request, when it has ended:
///
/// ```text
/// 2026-11-24T12:33:15.123Z GET https://h/a 200, 38 ms, 512 bytes, attempt 1
/// ```
///
/// As the first of the `interceptors` it logs each call once, after a ``RetryPolicy`` each attempt, and in
/// `exchangeInterceptors` each exchange. It receives responses and errors of the network. As one of the
/// `monitors` it logs each event of a call as one line, including its result for the caller: a
/// rejected status, a body that cannot be decoded, and the end of a stream.
///
/// ```swift
/// let watched = NetworkManager(monitors: [NetworkLogger()])
/// ```
public struct NetworkLogger: Interceptor, ExchangeInterceptor, EventMonitor {
    /// The amount of detail. Each level includes the previous ones.
    public enum Level: Int, Sendable, Comparable, CaseIterable {
        /// Nothing.
        case none
        /// One line when the response or the error has arrived: time, method, URL, status, duration, size, attempt.
        case basic
        /// Also the request, before it is sent, the header fields, and the phases that the session measured.
        case headers
        /// Also bodies that are text, up to ``NetworkLogger/bodyLimit`` bytes of each.
        case body

        /// Returns whether `lhs` logs less than `rhs`.
        public static func < (lhs: Level, rhs: Level) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// The form of the texts.
    public enum Style: Sendable {
        /// A line, followed by the details of a ``Level`` above ``Level/basic``.
        case lines
        /// A block between banners for the request and one for its end, at every level.
        case banners
    }

    /// The amount of detail. Default ``Level/headers``.
    public var level: Level
    /// The form of the texts. Default ``Style/lines``.
    public var style: Style
    /// The rules for secrets. Default ``Redaction/standard``.
    public var redaction: Redaction
    /// Whether the request is also logged as a curl command. Default false.
    public var writesCurlCommand: Bool
    /// The largest number of bytes logged of a body. Default 4,096. The rest is not searched for secrets.
    public var bodyLimit: Int {
        didSet { bodyLimit = max(0, bodyLimit) }
    }
    private let output: @Sendable (String) -> Void

    /// Creates a logger. `output` receives the texts about a request, its end and each event, on any thread. Nil, the
    /// default, selects standard error.
    public init(
        level: Level = .headers, style: Style = .lines, redaction: Redaction = .standard,
        writesCurlCommand: Bool = false, bodyLimit: Int = 4_096, output: (@Sendable (String) -> Void)? = nil
    ) {
        self.level = level
        self.style = style
        self.redaction = redaction
        self.writesCurlCommand = writesCurlCommand
        self.bodyLimit = max(0, bodyLimit)
        self.output = output ?? { StandardError.write($0 + "\n") }
    }

    /// Logs the request, sends it, and logs the response or the error.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard level > .none else { return try await next(request) }
        let start = ContinuousClock.now
        if level > .basic || style == .banners { output(text(of: request)) }
        do {
            let response = try await next(request)
            output(text(of: response, to: request, after: .now - start))
            return response
        } catch {
            // The total timeout ends the chain by a cancellation.
            let cause = error is CancellationError ? request.totalTimeout ?? error : error
            output(text(of: cause, to: request, after: .now - start))
            throw error
        }
    }

    /// Logs an event of a call in one line, with the identifier of its request and the time. At ``Level/basic``, logs
    /// only the result of the call.
    public func record(_ event: CallEvent) {
        guard level > .basic || level == .basic && event.kind.isLast else { return }
        let redaction = event.request.redaction(extending: redaction)
        let text = redaction.pairs(in: event.kind.text(by: redaction))
        let line = "\(event.elapsed.millisecondsText) \(line(event.request)) \(text)"
        output("[\(event.request.id)] \(Self.time)\(line.onOneLine)")
    }

    private func text(of request: NetworkRequest) -> String {
        var lines: [String] = []
        if let name = request.endPointName { lines.append("ENDPOINT: \(name)") }
        if level >= .headers {
            lines +=
                ["HOST: \(host(of: request))"] + fields(request.allHeaders, request.redaction(extending: redaction))
        }
        if level >= .body, !request.body.isEmpty {
            let isText = !request.body.isStreamed
            let data = isText ? try? request.body.encode() : nil
            lines += [
                "",
                data.map { body($0) } ?? "(body of \(request.body.length.map { "\($0) bytes" } ?? "unknown length"))",
            ]
        }
        if writesCurlCommand { lines.append(request.curlCommand(redaction: redaction)) }
        switch style {
        case .lines: return ([Self.time + line(request)] + lines).joined(separator: "\n")
        case .banners: return block("OUTGOING", request, [line(request)] + lines)
        }
    }

    private func text(of response: NetworkResponse, to request: NetworkRequest, after time: Duration) -> String {
        let size = response.stream == nil ? "\(response.body.count) bytes" : "a stream"
        let redaction = (response.request ?? request).redaction(extending: redaction)
        let from = response.url == request.url ? nil : response.url.map { redaction.url($0.absoluteString) }
        var lines: [String] = []
        if level >= .headers {
            if let phases = response.metrics.phases { lines.append("TIMES: \(phases)") }
            lines += fields(response.headers, redaction)
        }
        if level >= .body, !response.body.isEmpty { lines += ["", body(response.body)] }
        switch style {
        case .lines:
            let line =
                "\(Self.time)\(line(request)) \(response.statusCode), \(time.millisecondsText), \(size), "
                + "attempt \(request.call?.totalAttempts ?? 1)" + (from.map { ", from \($0)" } ?? "")
                + (outcomes(response.history).map { ", exchanges \($0)" } ?? "")
            return ([line] + command(request) + lines).joined(separator: "\n")
        case .banners:
            var first = [line(request), "STATUS: \(response.statusCode), \(size), \(time.millisecondsText)"]
            if let from { first.append("FROM: \(from)") }
            if let outcomes = outcomes(response.history) { first.append("EXCHANGES: \(outcomes)") }
            return block("INCOMING", request, first + lines)
        }
    }

    private func text(of error: any Error, to request: NetworkRequest, after time: Duration) -> String {
        let failure = error as? NetworkError
        let outcomes = outcomes(failure?.history ?? [])
        switch style {
        case .lines:
            let outcome = error is CancellationError ? "cancelled" : "failed"
            let reason = failure.map { redaction.pairs(in: $0.summary) } ?? "\(type(of: error))"
            let line =
                "\(Self.time)\(line(request)) \(outcome), \(time.millisecondsText), attempt "
                + "\(max(request.call?.totalAttempts ?? 1, failure?.attempts ?? 1))"
                + (outcomes.map { ", exchanges \($0)" } ?? "") + (outcome == "failed" ? ": \(reason)" : "")
            return ([line.onOneLine] + command(request)).joined(separator: "\n")
        case .banners:
            let text =
                error is CancellationError
                ? "cancelled" : failure.map { redaction.pairs(in: $0.description) } ?? "\(type(of: error))"
            let lines = [line(request), "AFTER: \(time.millisecondsText)", "ERROR: \(text)"]
            return block("FAILED", request, lines + (outcomes.map { ["EXCHANGES: \($0)"] } ?? []))
        }
    }

    /// The date and time in UTC, followed by a blank.
    private static var time: String {
        Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(Date()) + " "
    }

    /// Returns the curl command at ``Level/basic``, which logs no text before the request.
    private func command(_ request: NetworkRequest) -> [String] {
        writesCurlCommand && level == .basic ? [request.curlCommand(redaction: redaction)] : []
    }

    /// Returns the host as in the `Host` field.
    private func host(of request: NetworkRequest) -> String {
        guard let url = request.url, !request.host.isEmpty else { return "-" }
        return request.host + url.portSuffix
    }

    /// Returns the outcomes of all exchanges, or nil if the call had only one.
    private func outcomes(_ history: [ExchangeRecord]) -> String? {
        history.count > 1 ? history.map(\.outcome.description).joined(separator: ", ") : nil
    }

    private func line(_ request: NetworkRequest) -> String {
        let redaction = request.redaction(extending: redaction)
        return "\(request.method) \(redaction.url(request.url?.absoluteString ?? "(no URL)"))"
    }

    private func fields(_ headers: HTTPHeaders, _ redaction: Redaction) -> [String] {
        headers.map { "\($0.name): \(redaction.value($0.value, ofHeader: $0.name))" }
    }

    private func body(_ data: Data) -> String {
        guard let text = redaction.beginning(of: data, limit: bodyLimit) else {
            return "(\(data.count) bytes that are no text)"
        }
        return data.count <= bodyLimit ? text : text + "… (\(data.count) bytes in all)"
    }

    private func block(_ title: String, _ request: NetworkRequest, _ lines: [String]) -> String {
        let first = " - - - - - - - - - - \(title) - - - - - - - - - - \(request.id)"
        return ([first] + lines + [" - - - - - - - - - -  END  - - - - - - - - - -"]).joined(separator: "\n")
    }
}
