import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardPlatform

extension NetworkRouter {
    /// Opens a WebSocket that sends and receives values. A `String` is a text message, `Data` a binary one, and any other
    /// value is JSON as text, by the endpoint's encoder and decoder.
    ///
    /// The handshake is a GET of the endpoint's URL, with its headers, environment, credentials and interceptors. The
    /// total timeout covers it. The settings are the endpoint's `options.webSocket`.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint, whose method is GET.
    ///   - sending: The type of the messages to send.
    ///   - receiving: The type of the messages to receive.
    ///   - options: Options for this socket. They override those of its endpoint.
    ///   - clock: The clock for pings and the closing handshake.
    /// - Returns: The open socket.
    /// - Throws: `NetworkError` with the code of the status when the server answers otherwise than with 101,
    ///   `NetworkError.Code.invalidResponse` for a wrong 101, `NetworkError.Code.unsupported` when the session cannot open
    ///   WebSockets, and the errors of `response(for:)`.
    public func webSocket<Outgoing: Encodable & Sendable, Incoming: Decodable & Sendable>(
        for endPoint: EndPoint, sending: Outgoing.Type, receiving: Incoming.Type,
        options: RequestOptions = RequestOptions(), clock: any Clock<Duration> = ContinuousClock()
    ) async throws -> WebSocket<Outgoing, Incoming> {
        let (connection, agreement, response) = try await open(endPoint, options, clock)
        let handling = response.handling
        let encoder = response.request?.options.encoder
        return WebSocket(connection, agreement.subprotocol) { message in
            switch message {
            case let text as String: return .text(text)
            case let data as Data: return .binary(data)
            default: return .text(String(decoding: try (encoder ?? FastJSONEncoder()).encode(message), as: UTF8.self))
            }
        } decode: { message in
            switch message {
            case .text(let text): if let value = text as? Incoming { return value }
            case .binary(let data): if let value = data as? Incoming { return value }
            }
            return try handling.decoder.decode(Incoming.self, from: message.bytes)
        }
    }

    /// Opens a WebSocket that sends and receives messages as they are; see
    /// `webSocket(for:sending:receiving:options:clock:)`.
    public func webSocket(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions(),
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws -> WebSocket<WebSocketMessage, WebSocketMessage> {
        let (connection, agreement, _) = try await open(endPoint, options, clock)
        return WebSocket(connection, agreement.subprotocol, encode: { $0 }, decode: { $0 })
    }

    private func open(
        _ endPoint: EndPoint, _ options: RequestOptions, _ clock: any Clock<Duration>
    ) async throws -> (WebSocketConnection, WebSocketHandshake.Agreement, NetworkResponse) {
        let queue = SendQueue()
        let response = try await rawResponse(for: endPoint, options: options, accept: nil) {
            request throws(NetworkError) in
            guard request.method == .get, request.body.isEmpty else {
                throw NetworkError(.invalidRequest, reason: "a WebSocket needs a GET without a body")
            }
            let settings = request.options.webSocket
            request.options.streamsResponse = true
            request.options.upgrade = ConnectionUpgrade {
                WebSocketHandshake(settings).headers
            } outgoing: {
                HTTPBodyStream { await queue.next() }
            }
        }
        guard response.statusCode == 101, let request = response.request else {
            try response.handling.check(response)
            throw NetworkError(.unexpectedStatus, reason: "the server answered \(response.statusCode) instead of 101")
        }
        let settings = request.options.webSocket
        let connection = WebSocketConnection(queue, settings, request, clock: clock)
        do {
            let handshake = WebSocketHandshake(settings, key: request.headers["Sec-WebSocket-Key"] ?? "")
            let agreement = try handshake.agreement(response.headers)
            connection.start(response.bytes, try reader(agreement, settings, queue))
            return (connection, agreement, response)
        } catch {
            queue.end(CancellationError())
            throw NetworkError(.invalidResponse, reason: error.text).attributed(to: request)
        }
    }

    private func reader(
        _ agreement: WebSocketHandshake.Agreement, _ settings: WebSocketOptions, _ queue: SendQueue
    ) throws(HandshakeFault) -> MessageReader {
        guard let compression = agreement.compression else { return MessageReader(limit: settings.messageLimit) }
        do {
            let zlib = try Zlib.loaded.get()
            let inflater = try MessageInflater(zlib, keepsContext: compression.keepsServerContext)
            // zlib has no raw window of 2^8 bytes.
            if compression.windowBits > 8 {
                let deflater = try MessageDeflater(
                    zlib, windowBits: compression.windowBits, keepsContext: compression.keepsOwnContext)
                queue.compress(with: deflater, threshold: settings.compression?.threshold ?? .max)
            }
            return MessageReader(limit: settings.messageLimit, inflater: inflater)
        } catch {
            throw HandshakeFault("permessage-deflate needs zlib, and \(error.text)")
        }
    }
}

extension WebSocketMessage {
    /// The bytes of the message.
    var bytes: Data {
        switch self {
        case .text(let text): Data(text.utf8)
        case .binary(let data): data
        }
    }
}
