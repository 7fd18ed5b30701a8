import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Switchboard

/// Performs exchanges over async-http-client.
struct ClientSession: NetworkSession {
    let client: HTTPClient

    func send(
        _ request: NetworkRequest
    ) async throws -> NetworkResponse {
        try request.validate()
        try Task.checkCancellation()
        do {
            return try await exchange(request)
        } catch {
            throw Self.error(error)
        }
    }

    private func exchange(
        _ request: NetworkRequest
    ) async throws -> NetworkResponse {
        let (date, start) = (Date(), ContinuousClock.now)
        let answer = try await client.execute(
            outgoing(request), deadline: deadline(of: request))
        var response = NetworkResponse(
            statusCode: Int(answer.status.code))
        for field in answer.headers {
            response.headers.add(field.name, field.value)
        }
        response.request = request
        response.metrics.start = date
        response.metrics.timeToFirstByte = .now - start
        response.metrics.protocolVersion = "\(answer.version)"

        let isSuccess = answer.status.code / 100 == 2
        if request.options.streamsResponse, isSuccess {
            response.bytes = Self.bytes(answer.body)
            return response
        }
        let body = try await answer.body.collect(
            upTo: request.limits.responseBody)
        response.body = Data(buffer: body)
        response.metrics.duration = .now - start
        response.metrics.bytesReceived = Int64(response.body.count)
        return response
    }
}
