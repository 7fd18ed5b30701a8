import Foundation
import Switchboard

extension StoredResponse {
    /// Returns the answer to a request with a `Range`, with only its bytes read from the file. Nil without a range, above
    /// the request's limit, and when the bytes are damaged.
    func withSlice(for request: NetworkRequest) -> StoredResponse? {
        guard let file, let slice = slice(for: request) else { return nil }
        guard case .bytes(let wanted, let place) = slice else { return self }
        guard place.count <= request.limits.responseBody, let part = CacheParts([wanted], of: wholeSize),
            let bytes = try? file.read(place)
        else { return nil }
        return StoredResponse(
            status: status, headers: headers, body: bytes, url: url, variant: variant, date: date, ageBefore: ageBefore,
            tags: tags, failedCall: failedCall, part: part)
    }
}

extension NetworkRequest {
    /// Whether the answer needs its body in memory.
    var readsIntoMemory: Bool { !options.streamsResponse && method != .head }
}
