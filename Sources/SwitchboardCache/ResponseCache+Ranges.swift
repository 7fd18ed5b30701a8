import Foundation
import Switchboard
import SwitchboardText
import SwitchboardPlatform

extension CacheLoad {
    /// The request for the missing bytes of an incomplete stored response. Nil when a plain request is needed.
    var completionRequest: NetworkRequest? {
        // A stream delivers the stored bytes at the start, then the server's bytes.
        let isStream = request.options.streamsResponse
        guard request.method == .get, !request.headers.contains("Range"), !request.isConditional,
            !CacheControl(request.headers).isNoStore,
            // The body of a part above the request's limit stays in its file.
            let found, isStream || found.file == nil, let part = found.part,
            let missing = isStream ? part.rest : part.missing,
            let validator = found.strongValidator
        else { return nil }
        var request = request
        request.headers.set("Range", missing)
        request.headers.set("If-Range", validator)
        return (try? request.headers.validate()) == nil ? nil : request
    }
}

extension ResponseCache {
    /// Sends the request for the missing bytes of a stored response, and returns the whole ([RFC 9111
    /// §3.4](https://www.rfc-editor.org/rfc/rfc9111#section-3.4)). Nil when the server's bytes do not fit or its status
    /// concerns the range. The plain request is then sent.
    func complete(_ load: inout CacheLoad, for plain: NetworkRequest) async throws -> NetworkResponse? {
        let requestTime = now()
        let response = try await load.next(load.request)
        guard response.statusCode == 206 else {
            guard ![304, 400, 412, 416, 500, 501].contains(response.statusCode) else {
                load.request.report(.cache("not completed: HTTP \(response.statusCode)"))
                load.cookies = response.headers.cookies
                return nil
            }
            return await finish(response, load, requestTime: requestTime)
        }
        guard let new = try? storable(response, load, requestTime: requestTime), let found = load.found,
            let whole = response.stream == nil ? found.joined(with: new) : found.continued(by: new),
            whole.canAnswer(plain),
            response.stream == nil || new.part?.range.upperBound == new.part?.size
        else {
            load.request.report(.cache("not completed: the 206 does not fit the stored part"))
            load.cookies = response.headers.cookies
            return nil
        }
        let cookies = response.headers.cookies
        if let rest = response.stream {
            return try await complete(whole, found, rest, load, for: plain).adding(cookies: cookies)
        }
        let fault = await storage.store(whole, at: load.number)
        load.request.report(.cache(fault?.event ?? "completed"))
        return try whole.answer(to: plain, at: now(), .validated(load.reason))
            .recording(.validated(load.reason), fault).adding(cookies: cookies)
    }

    /// Returns the whole as a stream: the stored bytes at the start, followed by the rest from the server.
    private func complete(
        _ whole: StoredResponse, _ found: StoredResponse, _ rest: ResponseBytes, _ load: CacheLoad,
        for plain: NetworkRequest
    ) async throws -> NetworkResponse {
        let (count, request) = (found.part?.prefix ?? 0, load.request)
        let size = whole.headers["Content-Length"].flatMap { Int($0) } ?? 0
        let prefix = found.bytes(first: count, for: plain)
        let bytes = ResponseBytes(await ContinuedBytes(prefix, count, rest, size: size))
        var response = try whole.answer(to: plain, at: now(), .validated(load.reason))
        response.stream = await storage.storing(
            bytes,
            in: CacheBody(
                response: whole, storage: storage, load: load.number, size: size, end: size, keepsTruncated: true
            ) { request.report(.cache($0)) })
        request.report(.cache("completed with \(size - count) bytes"))
        return response
    }

    /// Returns the body to store of a streamed response. Throws for a part that does not continue the stored one.
    func body(
        _ new: StoredResponse, of response: NetworkResponse, _ load: CacheLoad
    ) throws(CacheRefusal) -> CacheBody {
        let request = load.request
        let report: @Sendable (String) -> Void = { request.report(.cache($0)) }
        guard let part = new.part else {
            let size = response.announcedLength(of: request.method).flatMap { Int(exactly: $0) }
            return CacheBody(
                response: new, storage: storage, load: load.number, size: size, end: size,
                keepsTruncated: response.mayBeTruncated(for: request), isOnlyStored: load.isInBackground, report: report
            )
        }
        guard load.usesStored, let found = load.found, let whole = found.continued(by: new) else {
            throw "it is a part that does not continue the stored one"
        }
        return CacheBody(
            response: whole, storage: storage, load: load.number, size: part.size, end: part.range.upperBound,
            keepsTruncated: true, start: (found, part.range.lowerBound), isOnlyStored: load.isInBackground,
            report: report)
    }

    /// Ends a load that failed. Stores the bytes that arrived, unless a whole response is stored.
    func storeReceivedPart(_ error: NetworkError, _ load: CacheLoad, requestTime: Date) async {
        let codes: [NetworkError.Code] = [.truncatedBody, .connectionLost, .timedOut]
        guard load.found.map({ $0.part != nil }) ?? true, load.request.method == .get, codes.contains(error.code),
            let response = error.response,
            let new = try? storable(response, load, requestTime: requestTime, isTruncated: true)
        else { return await storage.end(load.number) }
        let fault = await storage.store(new, at: load.number)
        load.request.report(.cache(fault?.event ?? "stored, \(response.body.count) bytes that arrived"))
    }
}

extension NetworkResponse {
    /// Returns whether a response that cannot be stored leaves the stored one and older loads valid: it is an error
    /// about the range, or a part with the validator of the stored one, if there is one.
    func concernsOnlyRange(of request: NetworkRequest, _ found: StoredResponse?) -> Bool {
        guard request.headers.contains("Range") else { return false }
        guard statusCode == 206 else { return statusCode >= 400 && statusCode != 404 && statusCode != 410 }
        guard let found else { return true }
        guard let name = ["ETag", "Last-Modified"].first(where: headers.contains) else { return false }
        return headers.values(for: name) == found.headers.values(for: name)
    }
}

/// The stored first bytes of a body, followed by the rest from the server.
private final class ContinuedBytes: ResponseBytes.Source {
    private let start: ResponseBytes
    private let startCount: Int
    private let rest: ResponseBytes
    private let size: Int
    let request: NetworkRequest?
    /// The number of bytes that were read.
    private let count = Protected(0)

    init(_ start: ResponseBytes, _ startCount: Int, _ rest: ResponseBytes, size: Int) async {
        (self.start, self.startCount, self.rest, self.size) = (start, startCount, rest, size)
        request = await rest.request
    }

    var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? { rest.result }
    var storedCount: Int64 { Int64(min(startCount, count.value)) }

    func next() async throws -> Data? {
        let chunk = try await (count.value < startCount ? start : rest).next()
        let arrived = count.withLock { count in
            count += chunk?.count ?? 0
            return count
        }
        guard arrived <= size else {
            throw NetworkError(.invalidResponse, reason: "more bytes arrived than the response announced")
        }
        guard chunk != nil || arrived == size else {
            throw NetworkError(.truncatedBody, reason: "\(arrived) of \(size) bytes arrived")
        }
        return chunk
    }
}
