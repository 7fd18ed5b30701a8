import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardWebSocket
import SwitchboardTestSupport
import Testing

/// Messages that become values, and values that become messages.
@Suite("WebSocket messages", .timeLimit(.minutes(10))) struct WebSocketMessageTests {
    private struct Note: Codable, Sendable, Equatable { let text: String, number: Int }

    private let endPoint = URLEndPoint(.get, URL(text: "https://example.com/chat"))

    /// Opens a socket whose server sends a message.
    private func open<Incoming: Decodable & Sendable>(
        _ steps: WebSocketStep..., receiving: Incoming.Type
    ) async throws -> WebSocket<String, Incoming> {
        try await Router<URLEndPoint>(session: StubSession(.webSocket(steps: steps))).webSocket(
            for: endPoint, sending: String.self, receiving: receiving)
    }

    @Test("a message that does not decode throws, and the next one is received")
    func undecodable() async throws {
        let socket = try await open(
            .text(#"{"text":"a"}"#), .text(#"{"text":"b","number":2}"#), .close(), receiving: Note.self)
        let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
        #expect(failure?.code == .decodingFailed && failure?.underlying is DecodingError)
        #expect(
            failure?.reason == "number: expected a value, the key is missing; "
                + "the object at line 1, column 1 of the message (12 bytes) has text")
        #expect(failure?.url?.absoluteString == "https://example.com/chat" && failure?.endPointName == "URLEndPoint")
        let next = try await socket.receive()
        #expect(next == Note(text: "b", number: 2))
    }

    #if os(Linux)
    @Test("a message that does not decode ends a loop, and closes the socket")
    func undecodableInLoop() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.text("no"), .text("more")))
            let socket = try await Router<URLEndPoint>(session: CurlSession()).webSocket(
                for: URLEndPoint(.get, server.url), sending: String.self, receiving: Note.self)
            let failure = await #expect(throws: NetworkError.self) { for try await _ in socket {} }
            #expect(failure?.code == .decodingFailed)
            #expect(socket.closure?.code == .goingAway && socket.closure?.isFromServer == false)
            let seen = try await server.takeWebSocket()
            #expect(seen.closeCode == 1001)
        }
    }
    #endif

    @Test("a value that cannot be encoded throws encodingFailed with the request")
    func unencodable() async throws {
        let session = StubSession(.webSocket(.echo))
        let socket = try await Router<URLEndPoint>(session: session).webSocket(
            for: endPoint, sending: [Double].self, receiving: [Double].self)
        let failure = await #expect(throws: NetworkError.self) { try await socket.send([.nan]) }
        #expect(failure?.code == .encodingFailed && failure?.url?.absoluteString == "https://example.com/chat")
        try await socket.send([1])
        let answer = try await socket.receive()
        #expect(answer == [1])
    }

    private struct BinaryEncoder: RequestEncoder {
        func encode<Value: Encodable>(_ value: Value) throws -> Data { Data([0xA1, 0xFF]) }
    }

    @Test("bytes of an encoder that are no text are not sent as another text")
    func encodedBytes() async throws {
        var options = RequestOptions()
        options.encoder = BinaryEncoder()
        let session = StubSession(.webSocket(.echo))
        let socket = try await Router<URLEndPoint>(session: session).webSocket(
            for: endPoint, sending: Note.self, receiving: Data.self, options: options)
        let failure = await #expect(throws: NetworkError.self) { try await socket.send(Note(text: "a", number: 1)) }
        #expect(failure?.code == .encodingFailed && failure?.endPointName == "URLEndPoint")
    }

    @Test("a text on a socket of Data is its bytes in UTF-8", arguments: ["AQI=", #"[1,2]"#, "é", ""])
    func textAsData(_ text: String) async throws {
        let bytes = try await open(.text(text), receiving: Data.self).receive()
        #expect(bytes == Data(text.utf8))
        let optional = try await open(.text(text), receiving: Data?.self).receive()
        #expect(optional == Data(text.utf8))
    }

    @Test("a binary message on a socket of String is its text", arguments: ["abc", #""quoted""#, "é\u{FEFF}", ""])
    func binaryAsText(_ text: String) async throws {
        let received = try await open(.binary(Data(text.utf8)), receiving: String.self).receive()
        #expect(received == text)
        let optional = try await open(.binary(Data(text.utf8)), receiving: String?.self).receive()
        #expect(optional == text)
    }

    @Test("a binary message that is not UTF-8 is no String", arguments: [[0xFF], [0xC3], [0xC3, 0x28]] as [[UInt8]])
    func binaryNoText(_ bytes: [UInt8]) async throws {
        let socket = try await open(.binary(Data(bytes)), .text("next"), receiving: String.self)
        let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
        #expect(failure?.code == .decodingFailed)
        #expect(failure?.reason == "the binary message is not UTF-8, so it is no String")
        let next = try await socket.receive()
        #expect(next == "next")
    }

    @Test("other values are read from JSON in a text or a binary message")
    func json() async throws {
        let json = #"{"text":"é","number":2}"#
        let socket = try await open(.text(json), .binary(Data(json.utf8)), receiving: Note.self)
        let notes = try await [socket.receive(), socket.receive()]
        #expect(notes == [Note(text: "é", number: 2), Note(text: "é", number: 2)])
    }
}

/// Call sites that must compile as written.
@Suite("WebSocket call sites", .timeLimit(.minutes(10))) struct WebSocketCallSiteTests {
    private enum ChatApi: EndPointType {
        case room(Int)
        var baseURL: String { "https://chat.example.com" }
        var path: String {
            switch self {
            case .room(let number): "rooms/\(segment: "\(number)")"
            }
        }
    }

    #if os(Linux)
    @Test("an integer literal is a close code")
    func literal() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket())
            let socket = try await Router<URLEndPoint>(session: CurlSession()).webSocket(
                for: URLEndPoint(.get, server.url))
            await socket.close(4001, reason: "seen")
            #expect(socket.closure?.code == 4001 && socket.closure?.code != .normalClosure)
            let seen = try await server.takeWebSocket()
            #expect(seen.closeCode == 4001 && seen.closeReason == "seen")
        }
    }
    #endif

    @Test("a manager's router opens sockets with values and with messages")
    func manager() async throws {
        let session = StubSession(.webSocket(.text("1"), .close()), .webSocket(.text("2"), .close()))
        let manager = NetworkManager(session: session)
        let router = manager.router(for: ChatApi.self)
        let typed = try await router.webSocket(for: .room(7), sending: String.self, receiving: Int.self)
        let number = try await typed.receive()
        let plain = try await router.webSocket(for: .room(8))
        let message = try await plain.receive()
        #expect(number == 1 && message == .text("2"))
        #expect(session.requests.map(\.url?.path) == ["/rooms/7", "/rooms/8"])
    }
}
