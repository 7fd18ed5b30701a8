import Foundation
import Switchboard

/// Answers each request with a body that follows from its URL and a version, which a field states. Some streams end early,
/// and half of the requests for the rest of a body get it.
struct Origin: NetworkSession {
    static let versions = 4

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        guard let url = request.url else { throw NetworkError(.missingURL) }
        let known = request.headers["If-Range"].flatMap { Int($0.dropFirst().dropLast()) }
        let version = known.flatMap { Bool.random() ? $0 : nil } ?? Int.random(in: 0..<Self.versions)
        var headers: HTTPHeaders = [
            "Cache-Control": "max-age=86400", "X-Version": "\(version)", "ETag": "\"\(version)\"",
        ]
        if url.path.hasSuffix("7") { headers["Vary"] = "X-Kind" }
        var body = Self.body(of: url, version)
        var status = 200
        // "bytes=7-" or "bytes=7-9"
        let ends = request.headers["Range"]?.dropFirst(6).split(separator: "-").compactMap { Int($0) } ?? []
        if known == version, let first = ends.first, first < body.count {
            let last = min(ends.count > 1 ? ends[1] : .max, body.count - 1)
            headers["Content-Range"] = "bytes \(first)-\(last)/\(body.count)"
            (status, body) = (206, body.subdata(in: first..<(last + 1)))
        }
        if request.options.streamsResponse {
            if Bool.random() { headers["Content-Length"] = "\(body.count)" }
            var response = NetworkResponse(statusCode: status, headers: headers, url: url)
            response.request = request
            let parts = Parts(body)
            response.bytes = ResponseBytes { try await parts.next() }
            return response
        }
        var response = NetworkResponse(statusCode: status, headers: headers, body: body, url: url)
        response.request = request
        return response
    }

    /// Returns the body: `size` bytes of a text with the URL and the version.
    static func body(of url: URL, _ version: Int) -> Data {
        let piece = Data("\(version) \(url.absoluteString)\n".utf8)
        let size = size(of: url)
        var data = Data(capacity: size + piece.count)
        while data.count < size { data.append(data.isEmpty ? piece : data) }
        return data.prefix(size)
    }

    /// Returns the size that follows from the path: up to 40 KB, and for one of 16 up to 3 MB.
    private static func size(of url: URL) -> Int {
        let seed = url.path.utf8.reduce(5_381) { ($0 &* 33 &+ Int($1)) & 0xFFFFFF } &* 2_654_435_761 >> 8
        return seed % 16 == 0 ? seed % 3_000_000 : seed % 40_000
    }
}

private actor Parts {
    private var rest: Data
    /// The number of chunks until the connection is lost.
    private var left = Int.random(in: 0..<4) == 0 ? Int.random(in: 1..<40) : .max

    init(_ body: Data) {
        rest = body
    }

    func next() throws -> Data? {
        guard !rest.isEmpty else { return nil }
        guard left > 0 else { throw NetworkError(.connectionLost) }
        left -= 1
        let part = Data(rest.prefix(64 << 10))
        rest = rest.dropFirst(part.count)
        return part
    }
}

extension NetworkResponse {
    /// Returns whether the body is the one of the URL and the version that the field states.
    func isWhole(_ body: Data, of url: URL) -> Bool {
        guard let version = headers["X-Version"].flatMap({ Int($0) }) else { return false }
        return body == Origin.body(of: url, version)
    }
}
