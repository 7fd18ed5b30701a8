import Foundation
import HTTPTypes
import OpenAPIRuntime
import Switchboard

/// Sends the operations of an OpenAPI client through a manager.
struct ManagerTransport: ClientTransport {
    let manager: NetworkManager

    func send(
        _ request: HTTPRequest, body: OpenAPIRuntime.HTTPBody?,
        baseURL: URL, operationID: String
    ) async throws -> (HTTPResponse, OpenAPIRuntime.HTTPBody?) {
        let operation = Operation(request, body, baseURL)
        let response = try await manager.router(for: Operation.self)
            .rawResponse(
                for: operation,
                options: RequestOptions { $0.streamsResponse = true })
        guard let head = HTTPResponse(response) else {
            throw NetworkError(.invalidResponse)
        }
        let bytes = response.bytes.map { ArraySlice($0) }
        return (
            head,
            OpenAPIRuntime.HTTPBody(
                bytes, length: .unknown, iterationBehavior: .single)
        )
    }
}

private struct Operation: EndPointType {
    let baseURL: URL
    let path: String
    let httpMethod: HTTPMethod
    let task: HTTPTask
    let headers: HTTPHeaders

    init(
        _ request: HTTPRequest, _ body: OpenAPIRuntime.HTTPBody?,
        _ baseURL: URL
    ) {
        self.baseURL = baseURL
        path = request.path ?? ""
        httpMethod = HTTPMethod(rawValue: request.method.rawValue)
        headers = HTTPHeaders(request.headerFields)
        task = body.map { .requestBody(StreamBody($0)) } ?? .request
    }
}

extension StreamBody {
    fileprivate init(_ body: OpenAPIRuntime.HTTPBody) {
        var length: Int64?
        if case .known(let known) = body.length { length = known }
        self.init(
            length: length,
            isReplayable: body.iterationBehavior == .multiple
        ) {
            let chunks = Chunks(body)
            return HTTPBodyStream { try await chunks.next() }
        }
    }
}

/// Reads the chunks of a body. Only one caller reads at a time.
private final class Chunks: @unchecked Sendable {
    private var iterator: OpenAPIRuntime.HTTPBody.AsyncIterator

    init(_ body: OpenAPIRuntime.HTTPBody) {
        iterator = body.makeAsyncIterator()
    }

    func next() async throws -> Data? {
        try await iterator.next().map { Data($0) }
    }
}
