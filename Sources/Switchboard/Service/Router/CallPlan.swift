import SwitchboardPlatform
import Foundation

/// The plan of a call, as ``Router/explain(_:options:isolation:)`` returns it. Its text is for people and contains no
/// secrets.
public struct CallPlan: Sendable {
    /// The request as it would be sent, after each ``RequestAdapter``. If an adapter fails, the request as that adapter
    /// left it. Nil when the request could not be built.
    public internal(set) var request: NetworkRequest?
    /// The error of the endpoint, of an adapter or of the request itself, or nil.
    public internal(set) var error: NetworkError?
    /// The types of the interceptors in the order in which they run, including the built-in ``RedirectInterceptor``.
    public var interceptors: [String] { steps.map(\.name) }
    /// The interceptors in order. Those in the exchange wrap each exchange.
    var steps: [(name: String, isInExchange: Bool, explanation: String?)] = []
    /// The type of the session.
    public internal(set) var session: String
    /// Likely mistakes: secrets in clear text, a body that can be sent only once, timeouts that exclude each other, or
    /// a property of the endpoint with a misspelled name.
    public internal(set) var warnings: [String] = []
}

extension CallPlan: DumpedAsDescription {
    /// The whole plan, in lines.
    public var description: String {
        var lines: [String] = []
        if let error { lines.append("No request: \(error)") }
        if let request { lines += text(of: request) }
        lines += (steps + [(session, false, nil)]).enumerated().map { index, step in
            "\(index + 1). \(step.name)" + (step.isInExchange ? " (each exchange)" : "")
                + (step.explanation.map { ": \($0)" } ?? "")
        }
        if !warnings.isEmpty { lines += ["Warnings:"] + warnings.map { "  \($0)" } }
        return lines.joined(separator: "\n")
    }

    private func text(of request: NetworkRequest) -> [String] {
        let redaction = request.redaction(extending: .standard)
        var lines = [String(describing: request)]
        lines += request.allHeaders.map { "  \($0.name): \(redaction.value($0.value, ofHeader: $0.name))" }
        if !request.body.isEmpty {
            let length = request.body.length.map { "\($0) bytes" } ?? "unknown length"
            let data = request.body.isStreamed ? nil : try? request.body.encode()
            let text = data.flatMap { $0.count <= 4_096 ? String(data: $0, encoding: .utf8) : nil }
            lines.append("  body of \(length)" + (text.map { ": \(redaction.text($0))" } ?? ""))
        }
        let removed = request.sameOriginHeaderNames
        if !removed.isEmpty { lines.append("  to another origin without \(removed.joined(separator: ", "))") }
        let timeouts = request.timeouts
        let limits = [
            ("connect", timeouts.connect), ("idle", timeouts.idle), ("attempt", timeouts.attempt),
            ("total", timeouts.total),
        ]
        lines.append("  timeouts: " + limits.map { "\($0) \($1.map(\.secondsText) ?? "none")" }.joined(separator: ", "))
        return lines
    }
}

extension InterceptorChain {
    /// Returns the plan of a call. It runs each ``RequestAdapter`` and sends nothing.
    func plan(_ request: Result<NetworkRequest, any Error>) async -> CallPlan {
        let interceptors = links.map(\.interceptor)
        var plan = CallPlan(session: String(describing: type(of: session)))
        let calls = links.prefix { if case .call = $0 { true } else { false } }.count
        plan.steps = interceptors.enumerated().map { (String(describing: type(of: $1)), $0 >= calls, nil) }
        switch request {
        case .failure(let error): plan.error = NetworkError.caught(error)
        case .success(var request):
            var received: [NetworkRequest] = []
            do {
                if let listingError { throw listingError }
                try ownPolicy(of: request)?.addKey(to: &request)
                for interceptor in interceptors {
                    if let policy = interceptor as? RetryPolicy {
                        try policy.policy(for: request, default: nil).addKey(to: &request)
                    }
                    try await (interceptor as? any RequestAdapter)?.adapt(&request)
                    received.append(request)
                }
                request = try request.encodedAndValidated()
            } catch {
                let adapter = plan.steps.dropFirst(received.count).first?.name
                plan.error = NetworkError.caught(error).naming(adapter).attributed(to: request)
            }
            for (index, own) in received.enumerated() {
                plan.steps[index].explanation = await (interceptors[index] as? any ExplainedInterceptor)?
                    .explanation(of: own, sentAs: request)
            }
            complete(&plan, with: request)
        }
        return plan
    }

    // Not inlined, because an asynchronous function has a copy of its code for each suspension.
    /// Adds the request as it would be sent, and its warnings.
    @inline(never)
    private func complete(_ plan: inout CallPlan, with request: NetworkRequest) {
        if ownPolicy(of: request) != nil {
            plan.steps.insert(("RetryPolicy", false, "of the request's options"), at: 0)
        }
        plan.request = request
        plan.warnings = request.warnings
        // Another task may write the members of an object.
        if let endPoint = request.endPoint?.endPoint, !(type(of: endPoint) is AnyClass) {
            plan.warnings += EndPointRecord.nearMisses(of: endPoint)
        }
    }
}

extension NetworkRequest {
    fileprivate var warnings: [String] {
        var warnings: [String] = []
        let redaction = redaction(extending: .standard)
        let secret = allHeaders.first { redaction.isSecret(header: $0.name) }?.name
        let text = url?.absoluteString ?? ""
        let hasSecretURL = redaction.url(text) != text
        if url?.isHTTPS == false, secret != nil || hasSecretURL, url?.isLikelyLoopback != true {
            let name = secret ?? "a secret of the URL"
            warnings.append("\(name) goes in clear text: http is not encrypted")
        }
        if hasSecretURL { warnings.append("the URL has a secret: servers and proxies write URLs into their logs") }
        if !body.isEmpty, !body.isReplayable {
            warnings.append("the body can be sent once: no retry, and no redirect that keeps it")
        }
        func warn(_ timeout: Duration?, _ name: String, exceeds other: Duration?, _ otherName: String) {
            guard let timeout, let other, timeout > other else { return }
            warnings.append(
                "the \(name) timeout of \(timeout.secondsText) never passes: \(otherName) is \(other.secondsText)")
        }
        warn(timeouts.attempt, "attempt", exceeds: timeouts.total, "total")
        warn(timeouts.connect, "connect", exceeds: timeouts.attempt, "attempt")
        if timeouts.idle == nil, timeouts.attempt == nil, timeouts.total == nil {
            warnings.append("no timeout is set: a silent server keeps the call waiting forever")
        }
        return warnings
    }
}
