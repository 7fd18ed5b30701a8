import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardText

/// Opens the connections of one socket.
struct WebSocketOpener: Sendable {
    let prepare: ActorBound<Void, PreparedCall>
    let clock: any Clock<Duration>
    /// The call of all connections. Only a socket that reconnects uses it.
    let call: LongCall

    /// A connection after its handshake.
    struct Opened: Sendable {
        let connection: WebSocketConnection
        let subprotocol: String?
        let response: NetworkResponse
    }

    /// Sends the handshake.
    func open() async throws -> Opened {
        let queue = SendQueue()
        let framer = MessageFramer(queue)
        let upgraded = Protected<(any UpgradedConnection)?>(nil)
        let foundationSocket = Protected<FoundationSocket?>(nil)
        defer {
            // The request, which errors and records keep, retains both.
            _ = upgraded.swap(nil)
            foundationSocket.swap(nil)?.cancel()
        }
        let response = try await prepare(()).value.performShared { request throws(NetworkError) in
            guard request.method == .get, request.body.isEmpty else {
                throw NetworkError(.invalidRequest, reason: "a WebSocket needs a GET without a body")
            }
            let settings = request.options.webSocket
            let names = settings.subprotocols
            guard names.allSatisfy(\.isHTTPToken), Set(names).count == names.count else {
                let list = names.joined(separator: ", ").quotedForMessage
                throw NetworkError(
                    .invalidRequest, reason: "the subprotocols \(list) are not different tokens (RFC 6455 §4.1)")
            }
            request.options.streamsResponse = true
            request.options.upgrade = ConnectionUpgrade { request in
                var headers = WebSocketHandshake(settings).headers
                // Clients that cannot set header fields send a token in this one.
                let name = "Sec-WebSocket-Protocol"
                if request.crossOriginHops.count > 0, !request.isAllowedCrossOrigin(name) { headers.remove(name) }
                return headers
            } outgoing: { [weak queue, weak framer] in
                // Weak, because the queue stores its error, which retains the request.
                let exchange = queue?.startExchange()
                return HTTPBodyStream { [weak framer] in await framer?.next(of: exchange) }
            } confirm: { [weak framer] in
                framer?.confirm()
            } connected: {
                _ = upgraded.swap($0)
            } byURLSession: { request, session in
                var (response, socket) = try await session.openWebSocket(request)
                foundationSocket.swap(socket)?.cancel()
                // URLSession hides the bytes. With a body, the call is in flight until the connection ends.
                if response.statusCode == 101 {
                    response.bytes = ResponseBytes { [socket] in
                        await socket.waitForEnd()
                        return nil
                    }
                }
                return response
            }
            if settings.reconnects { try call.join(&request) { _ in } }
        }
        guard response.statusCode == 101, let request = response.request else {
            do {
                try response.checkStatus()
                throw try await refusal(response)
            } catch {
                response.endCall(with: error)
                throw error
            }
        }
        let settings = request.options.webSocket
        let connection = WebSocketConnection(queue, settings, request, clock: clock)
        do {
            let handshake = WebSocketHandshake(settings, of: request)
            let negotiation = try handshake.negotiation(response.headers)
            let coding = FrameCoding(framer, try Self.reader(negotiation.compression, settings, framer))
            request.endCall(.success(response.statusCode))
            if let socket = foundationSocket.swap(nil) {
                connection.start(socket, response.bytes)
            } else {
                // Compression would block the thread that serves all connections. An interceptor that wraps the bytes
                // must see all of them.
                let isDirect =
                    negotiation.compression == nil && connection.recorder == nil && response.bytes.isUnchanged
                connection.start(response.bytes, coding, over: isDirect ? upgraded.swap(nil) : nil)
            }
            return Opened(connection: connection, subprotocol: negotiation.subprotocol, response: response)
        } catch {
            queue.end(CancellationError())
            let error = connection.attributed(error)
            response.endCall(with: error)
            throw error
        }
    }

    /// Returns the error of an accepted status other than 101, with the first bytes of the body.
    private func refusal(_ response: NetworkResponse) async throws -> NetworkError {
        let body = try await beginning(of: response.bytes)
        var reason = "the server answered \(response.statusCode) instead of 101, so this path may be no WebSocket"
        if !body.isEmpty { reason += "; the body begins \(DecodingFailure.snippet(of: body))" }
        var error = NetworkError(.unexpectedStatus, reason: reason).with(response)
        error.body = body
        return error
    }

    /// Returns up to 16 KiB of a body that arrive within a second. The body may be endless.
    private func beginning(of bytes: ResponseBytes) async throws -> Data {
        let body = Protected(Data())
        _ = try? await withTimeout(.seconds(1), by: clock, error: CancellationError()) {
            while body.value.count < 16 << 10, let chunk = try await bytes.next() { body.withLock { $0 += chunk } }
        }
        try Task.checkCancellation()
        return body.value.prefix(16 << 10)
    }

    static func reader(
        _ compression: AcceptedCompression?, _ settings: WebSocketOptions, _ framer: MessageFramer,
        zlib: Result<Zlib, DynamicLibrary.Failure> = Zlib.loaded
    ) throws(NetworkError) -> MessageReader {
        guard let compression else { return MessageReader(limit: settings.messageLimit) }
        do {
            let zlib = try zlib.get()
            let inflater = try MessageInflater(zlib, keepsContext: compression.allowsServerContextTakeover)
            // zlib has no raw window of 2^8 bytes.
            if compression.windowBits > 8 {
                let deflater = try MessageDeflater(
                    zlib, windowBits: compression.windowBits, keepsContext: compression.allowsClientContextTakeover)
                framer.compress(with: deflater, threshold: settings.compression?.threshold ?? .max)
            }
            return MessageReader(limit: settings.messageLimit, inflater: inflater)
        } catch {
            throw NetworkError(.unsupported, reason: "permessage-deflate needs zlib, and \(error.text)")
        }
    }
}
