import SwitchboardPlatform
import Foundation

/// Logs requests and responses, with secrets replaced.
///
/// ```swift
/// let manager = NetworkManager(
///     interceptors: [NetworkLogger(level: .body)])
/// ```
///
/// As the first of the `interceptors` it logs each call once, behind a ``RetryPolicy`` each attempt, and in
/// `exchangeInterceptors` each exchange. As one of the ``RequestOptions/monitors`` it logs each decision of a call as
/// one line.
///
/// ```swift
/// let watched = NetworkManager(
///     options: RequestOptions { $0.monitors.append(NetworkLogger()) })
/// ```
public struct NetworkLogger: Interceptor, ExchangeInterceptor, EventMonitor {
    /// The amount of detail. Each level includes the previous ones.
    public enum Level: Int, Sendable, Comparable, CaseIterable {
        /// Nothing.
        case none
        /// One line for the request and one for the response: method, URL, status, size, time.
        case basic
        /// Header fields, and the phases that the session measured.
        case headers
        /// Bodies that are text, up to ``NetworkLogger/bodyLimit`` bytes of each.
        case body

        /// Returns whether `one` logs less than `other`.
        public static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }
    }

    /// The amount of detail. Default ``Level/headers``.
    public var level: Level
    /// The rules that say which values are secrets. Default ``Redaction/standard``.
    public var redaction: Redaction
    /// Whether the request is also logged as a curl command. Default false.
    public var writesCurlCommand: Bool
    /// The largest number of bytes logged of a body. Default 4,096.
    public var bodyLimit: Int
    private let output: @Sendable (String) -> Void

    /// Creates a logger. `output` receives one block of lines for the request, one for the response, and one line for
    /// each event, on any thread. Nil stands for standard error.
    public init(
        level: Level = .headers, redaction: Redaction = .standard, writesCurlCommand: Bool = false,
        bodyLimit: Int = 4_096,
        output: (@Sendable (String) -> Void)? = nil
    ) {
        self.level = level
        self.redaction = redaction
        self.writesCurlCommand = writesCurlCommand
        self.bodyLimit = max(0, bodyLimit)
        self.output = output ?? { StandardError.write($0 + "\n") }
    }

    /// Logs the request, sends it, and logs the response or the error.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard level > .none else { return try await next(request) }
        let start = ContinuousClock.now
        output(text(of: request))
        do {
            let response = try await next(request)
            output(text(of: response, to: request, after: .now - start))
            return response
        } catch {
            output(text(of: error, to: request, after: .now - start))
            throw error
        }
    }

    /// Logs a decision of a call, with the identifier of its request.
    public func record(_ event: CallEvent) {
        if level > .none { output("[\(event.request.id)] \(event)") }
    }

    private func text(of request: NetworkRequest) -> String {
        var lines = [" - - - - - - - - - - OUTGOING - - - - - - - - - - \(request.id)", line(request)]
        if let name = request.endPointName { lines.append("ENDPOINT: \(name)") }
        if level >= .headers {
            lines +=
                ["HOST: \(host(of: request))"] + fields(request.allHeaders, request.redaction(over: redaction))
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
        return block(lines)
    }

    private func text(of response: NetworkResponse, to request: NetworkRequest, after time: Duration) -> String {
        let size = response.stream == nil ? "\(response.body.count) bytes" : "a stream"
        var lines = [
            " - - - - - - - - - - INCOMING - - - - - - - - - - \(request.id)", line(request),
            "STATUS: \(response.statusCode), \(size), \(time.millisecondsText)",
        ]
        if let url = response.url, url != request.url { lines.append("FROM: \(redaction.url(url.absoluteString))") }
        lines += exchanges(response.history)
        if level >= .headers {
            if let phases = response.metrics.phases { lines.append("TIMES: \(phases)") }
            lines += fields(response.headers, redaction)
        }
        if level >= .body, !response.body.isEmpty { lines += ["", body(response.body)] }
        return block(lines)
    }

    private func text(of error: any Error, to request: NetworkRequest, after time: Duration) -> String {
        let what =
            error is CancellationError
            ? "cancelled"
            : (error as? NetworkError).map { redaction.pairs(in: $0.description) }
                ?? "\(type(of: error))"
        return block(
            [
                " - - - - - - - - - - FAILED - - - - - - - - - - \(request.id)", line(request),
                "AFTER: \(time.millisecondsText)",
                "ERROR: \(what)",
            ] + exchanges((error as? NetworkError)?.history ?? []))
    }

    /// Returns the host as in the `Host` field, with a port that is not the scheme's default.
    private func host(of request: NetworkRequest) -> String {
        guard let url = request.url, !request.host.isEmpty else { return "-" }
        return request.host + url.portSuffix
    }

    /// Returns a line with the outcomes of all exchanges, if the call had several.
    private func exchanges(_ history: [ExchangeRecord]) -> [String] {
        guard history.count > 1 else { return [] }
        return ["EXCHANGES: " + history.map(\.outcome.description).joined(separator: ", ")]
    }

    private func line(_ request: NetworkRequest) -> String {
        "\(request.method) \(redaction.url(request.url?.absoluteString ?? "(no URL)"))"
    }

    private func fields(_ headers: HTTPHeaders, _ redaction: Redaction) -> [String] {
        headers.map { "\($0.name): \(redaction.value($0.value, ofHeader: $0.name))" }
    }

    private func body(_ data: Data) -> String {
        guard !data.contains(0), let text = String(data: data, encoding: .utf8) else {
            return "(\(data.count) bytes that are no text)"
        }
        let shown = redaction.text(text)
        guard shown.utf8.count > bodyLimit else { return shown }
        return String(decoding: shown.utf8.prefix(max(0, bodyLimit)), as: UTF8.self) + "… (\(data.count) bytes in all)"
    }

    private func block(_ lines: [String]) -> String {
        (lines + [" - - - - - - - - - -  END  - - - - - - - - - -"]).joined(separator: "\n")
    }
}
