import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardHAR

/// One answer of a ``Cassette`` from its file: a response, or the error that a real session throws for it.
struct CassettePlayback {
    let request: NetworkRequest
    let entry: HAR.Entry
    let redactor: HARRedactor
    let tape: Protected<CassetteTape>

    func run() async throws -> NetworkResponse {
        if let upgrade = request.options.upgrade, entry.response.status == 101 {
            return try upgraded(upgrade, entry.webSocketMessages ?? [])
        }
        var answer = try head()
        guard request.method != .head, answer.statusCode != 204, answer.statusCode != 304 else { return answer }
        // No client needs the content of a redirect, and some browsers do not store it.
        guard !entry.response.content.isMissing || (300..<400).contains(answer.statusCode) else {
            let reason = "the cassette's entry for it has no content: export the archive with content"
            throw NetworkError(.cassetteFault, reason: reason).noting(request)
        }
        let body = entry.response.content.data
        answer.metrics.bytesReceived = Int64(body.count)
        if request.streams(answer.statusCode) {
            let rest = Protected<Data?>(body)
            answer.bytes = ResponseBytes {
                try Task.checkCancellation()
                return rest.withLock { rest in
                    defer { rest = nil }
                    return rest
                }
            }
        } else {
            try check(body)
            answer.body = body
        }
        return answer
    }

    private func head() throws(NetworkError) -> NetworkResponse {
        let recorded = entry.response
        var answer = NetworkResponse(
            status: recorded.status,
            headers: HTTPHeaders(recorded.headers), url: request.url)
        answer.trailers = HTTPHeaders(recorded.trailers ?? [])
        answer.request = request
        if recorded.httpVersion.hasPrefix("HTTP/") { answer.metrics.protocolVersion = recorded.httpVersion }
        let size = answer.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard size <= request.limits.responseHeaders else {
            let reason = "it has \(size) bytes, limits.responseHeaders is \(request.limits.responseHeaders)"
            throw NetworkError(.headersTooLarge, reason: reason).noting(request)
        }
        return answer
    }

    /// Returns the error of a difference from the recording, and adds it to the faults.
    func fault(_ text: String) -> NetworkError {
        let text = Scrubber(redactor).scrubbed("cassette: " + text)
        tape.withLock { $0.note(text) }
        return NetworkError(.unmatchedRequest, reason: text).noting(request)
    }

    private func check(_ body: Data) throws(NetworkError) {
        guard body.count > request.limits.responseBody else { return }
        let reason = "the body has \(body.count) bytes, limits.responseBody is \(request.limits.responseBody)"
        var error = NetworkError(.responseTooLarge, reason: reason).noting(request)
        error.status = entry.response.status
        error.headers = HTTPHeaders(entry.response.headers)
        error.body = body.prefix(max(0, request.limits.responseBody))
        throw error
    }
}
