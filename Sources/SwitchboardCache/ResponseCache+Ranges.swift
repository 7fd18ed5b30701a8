import Foundation
import Switchboard
import SwitchboardText

extension CacheLoad {
    /// The request for the missing bytes of an incomplete stored response. Nil when a plain request is needed.
    var completing: NetworkRequest? {
        // A stream delivers the bytes of the server as they arrive: nothing could precede or check them.
        guard request.method == .get, !request.headers.contains("Range"), !request.isConditional,
            !request.options.streamsResponse, !CacheControl(request.headers).isNoStore,
            let found, let missing = found.part?.missing, let validator = found.strongValidator
        else { return nil }
        var request = request
        request.headers.set("Range", missing)
        request.headers.set("If-Range", validator)
        return (try? request.headers.validate()) == nil ? nil : request
    }
}

extension ResponseCache {
    /// Sends the request for the missing bytes of a stored response, and returns the whole ([RFC 9111
    /// §3.4](https://www.rfc-editor.org/rfc/rfc9111#section-3.4)). Nil when the plain request must be sent instead: the
    /// server's bytes do not fit, or its status is about the range.
    func complete(_ load: CacheLoad, for plain: NetworkRequest) async throws -> NetworkResponse? {
        let asked = now()
        let response = try await load.next(load.request)
        guard response.statusCode == 206 else {
            guard ![304, 400, 412, 416, 500, 501].contains(response.statusCode) else {
                load.request.report(.cache("not completed: HTTP \(response.statusCode)"))
                return nil
            }
            return await settle(response, load, asked: asked)
        }
        let new = StoredResponse(response, to: load.request, asked: asked, at: now())
        guard let new, isOurs(response, to: load.request), let whole = load.found?.joined(with: new),
            whole.canAnswer(plain)
        else {
            load.request.report(.cache("not completed: the 206 does not fit the stored part"))
            return nil
        }
        let fault = await storage.store(whole, at: load.number)
        load.request.report(.cache(fault ?? "completed"))
        return whole.answer(to: plain, at: now(), .validated(load.reason))
    }

    /// Ends a load that failed. Stores the bytes that arrived, unless a whole response is stored.
    func keepReceived(_ error: NetworkError, _ load: CacheLoad, asked: Date) async {
        let codes: [NetworkError.Code] = [.truncatedBody, .connectionLost, .timedOut]
        guard load.found.map({ $0.part != nil }) ?? true, load.request.method == .get, codes.contains(error.code),
            let response = error.response, isOurs(response, to: load.request),
            let new = StoredResponse(response, to: load.request, asked: asked, at: now(), isCut: true)
        else { return await storage.end(load.number) }
        let fault = await storage.store(new, at: load.number)
        load.request.report(.cache(fault ?? "stored, \(response.body.count) bytes that arrived"))
    }
}

extension NetworkResponse {
    /// Returns whether a response that cannot be stored says nothing against the stored one: it is an error about the
    /// range, or a part with the same validator.
    func isOnlyAboutRange(of request: NetworkRequest, _ found: StoredResponse?) -> Bool {
        guard request.headers.contains("Range") else { return false }
        guard statusCode == 206 else { return statusCode >= 400 && statusCode != 404 && statusCode != 410 }
        guard let found, let name = ["ETag", "Last-Modified"].first(where: headers.contains) else { return false }
        return headers.values(for: name) == found.headers.values(for: name)
    }
}
