import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Switchboard

extension ClientSession {
    func outgoing(
        _ request: NetworkRequest
    ) throws -> HTTPClientRequest {
        guard request.timeouts.connect == nil else {
            throw NetworkError(
                .unsupported,
                reason: "set timeouts.connect on the HTTPClient")
        }
        var outgoing = HTTPClientRequest(
            url: request.url?.absoluteString ?? "")
        outgoing.method = .init(rawValue: request.method.rawValue)
        var fields = request.headers
        if !request.body.isEmpty {
            // Fields of the request win over those of its body.
            fields = request.body.additionalHeaders.merging(fields)
            outgoing.body = try body(request.body)
        }
        for field in fields {
            outgoing.headers.add(name: field.name, value: field.value)
        }
        return outgoing
    }

    private func body(
        _ body: any HTTPBody
    ) throws -> HTTPClientRequest.Body {
        guard body.isStreamed else {
            return .bytes(ByteBuffer(data: try body.encode()))
        }
        let chunks = try body.makeStream().map { ByteBuffer(data: $0) }
        return .stream(
            chunks, length: body.length.map { .known($0) } ?? .unknown)
    }

    func deadline(of request: NetworkRequest) -> NIODeadline {
        guard let attempt = request.timeouts.attempt else {
            return .distantFuture
        }
        return .now() + TimeAmount(attempt)
    }
}
