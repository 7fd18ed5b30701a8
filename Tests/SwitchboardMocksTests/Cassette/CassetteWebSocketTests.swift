import Foundation
import Switchboard
import SwitchboardHAR
import SwitchboardTesting
import SwitchboardWebSocket
import SwitchboardTestSupport
import Testing

@Suite("Cassettes of WebSockets", .timeLimit(.minutes(10))) struct CassetteWebSocketTests {
    private func open(
        _ session: any NetworkSession, _ change: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> WebSocket<WebSocketMessage, WebSocketMessage> {
        var options = RequestOptions()
        change(&options)
        let url = try #require(URL(string: "https://h.example/chat?room=7"))
        return try await Router<URLEndPoint>(session: session).webSocket(for: URLEndPoint(.get, url), options: options)
    }

    private func read(
        _ socket: WebSocket<WebSocketMessage, WebSocketMessage>
    ) async throws -> [WebSocketMessage] {
        let messages = try await socket.elements()
        return messages
    }

    /// Records one message in each direction and of each type.
    private func record(_ file: URL, sending message: WebSocketMessage = .text("hello")) async throws {
        let stub = StubSession(
            .webSocket(.receive, .text("é"), .receive, .binary(Data([0, 255])), .close(1001, reason: "x")))
        let cassette = try Cassette(file: file, mode: .recordMissing, recording: stub)
        let socket = try await open(cassette) { $0.webSocket.compression = WebSocketCompression() }
        try await socket.send(message)
        try await socket.send(.binary(Data([1, 2])))
        let messages = try await read(socket)
        #expect(messages == [.text("é"), .binary(Data([0, 255]))])
        try cassette.save()
    }

    @Test("messages are recorded as browsers write them")
    func recording() async throws {
        try await withFile { file in
            let start = Date().timeIntervalSince1970
            try await record(file)
            let end = Date().timeIntervalSince1970
            let archive = try Archive(file)
            #expect(archive.urls == ["wss://h.example/chat?room=7"])
            #expect(archive.text("_resourceType") == "websocket" && archive.value("response.status") as? Int == 101)
            let recorded = (archive.value("_webSocketMessages") as? [[String: Any]] ?? []).map {
                "\($0["type"] as? String ?? "") \($0["opcode"] as? Int ?? 0) \($0["data"] as? String ?? "")"
            }
            let sent = recorded.filter { $0.hasPrefix("send") }
            #expect(sent == ["send 1 hello", "send 2 AQI=", "send 8 A+k="])
            #expect(recorded.filter { $0.hasPrefix("receive") } == ["receive 1 é", "receive 2 AP8=", "receive 8 A+l4"])
            let time = try #require(archive.value("_webSocketMessages.0.time") as? Double)
            // The file has milliseconds.
            #expect(time > start - 0.001 && time < end + 0.001)
        }
    }

    @Test("recorded messages come back, and the messages sent must be the same")
    func replaying() async throws {
        try await withFile { file in
            try await record(file)
            try await Cassette(file: file, mode: .strict, recording: NoNetwork()).run { cassette in
                let socket = try await open(cassette)
                try await socket.send(.text("hello"))
                try await socket.send(.binary(Data([1, 2])))
                let messages = try await read(socket)
                #expect(messages == [.text("é"), .binary(Data([0, 255]))])
                #expect(socket.closure?.code == .goingAway && socket.closure?.reason == "x")
            }
            let cassette = try Cassette.playing(file)
            let socket = try await open(cassette)
            await #expect(throws: NetworkError.self) { try await socket.send(.text("hallo")) }
            let failure = await #expect(throws: NetworkError.self) { try await read(socket) }
            #expect(failure?.code == .unmatchedRequest)
            #expect(failure?.reason?.contains(#"message 1 to /chat differs"#) == true)
            #expect(failure?.reason?.contains(#""hallo", recorded "hello""#) == true)
            #expect(cassette.faults.count == 1)
        }
    }

    @Test("a recorded message that is not sent is a fault", arguments: [Cassette.Mode.replay, .strict, .recordMissing])
    func unsent(mode: Cassette.Mode) async throws {
        try await withFile { file in
            try await record(file)
            let cassette = try Cassette.playing(file, mode: mode)
            let socket = try await open(cassette)
            try await socket.send(.text("hello"))
            await socket.close()
            let fault = "cassette: message 2 of 2 to /chat was not sent"
            #expect(cassette.faults == (mode == .recordMissing ? [] : [fault]))
        }
    }

    @Test("a recorded message after the server's Close frame need not be sent")
    func sentAfterTheEnd() async throws {
        try await withFile { file in
            try await record(file)
            var archive = try JSONDecoder().decode(HAR.self, from: Data(contentsOf: file))
            let late = HAR.WebSocketMessage(type: "send", opcode: 1, payload: Data("late".utf8))
            archive.log.entries[0].webSocketMessages?.append(late)
            try archive.data.write(to: file)
            let cassette = try Cassette.playing(file)
            let socket = try await open(cassette)
            try await socket.send(.text("hello"))
            try await socket.send(.binary(Data([1, 2])))
            _ = try await read(socket)
            #expect(cassette.faults == [])
        }
    }

    @Test("a message's secrets are replaced, and the live message matches")
    func secrets() async throws {
        try await withFile { file in
            let login = WebSocketMessage.text(#"{"password":"correct horse","room":7}"#)
            try await record(file, sending: login)
            let archive = try Archive(file)
            #expect(!archive.text.contains("horse") && archive.text.contains("REDACTED"))
            let socket = try await open(try Cassette.playing(file))
            try await socket.send(.text(#"{"room":7,"password":"correct horse"}"#))
            try await socket.send(.binary(Data([1, 2])))
            let messages = try await read(socket)
            #expect(messages.count == 2)
        }
    }

    @Test("a lost connection is recorded, and is lost again")
    func lost() async throws {
        try await withFile { file in
            let stub = StubSession(.webSocket(.text("1"), .reset))
            let cassette = try Cassette(file: file, mode: .recordMissing, recording: stub)
            for session in [cassette as any NetworkSession, nil] {
                let socket = try await open(session ?? Cassette.playing(file))
                let first = try await socket.receive()
                #expect(first == .text("1"))
                let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
                #expect(failure?.code == .connectionLost)
                try cassette.save()
            }
        }
    }

    @Test(
        "the error that ended a connection is played",
        arguments: [(.frame(0x3, Data()), .invalidResponse), (.text("long"), .responseTooLarge)]
            as [(WebSocketStep, NetworkError.Code)])
    func error(step: WebSocketStep, code: NetworkError.Code) async throws {
        try await withFile { file in
            let stub = StubSession(.webSocket(.text("1"), step))
            let cassette = try Cassette(file: file, mode: .recordMissing, recording: stub)
            for session in [cassette as any NetworkSession, nil] {
                let socket = try await open(session ?? Cassette.playing(file)) { $0.webSocket.messageLimit = 3 }
                let first = try await socket.receive()
                #expect(first == .text("1"))
                let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
                #expect(failure?.code == code)
                try cassette.save()
            }
        }
    }

    @Test("a socket that the client closed is played up to its own Close frame")
    func closedByClient() async throws {
        try await withFile { file in
            let stub = StubSession(.webSocket(.text("1")))
            let cassette = try Cassette(file: file, mode: .recordMissing, recording: stub)
            let recorded = try await open(cassette)
            _ = try await recorded.receive()
            await recorded.close(4001, reason: "seen")
            try cassette.save()
            let player = try Cassette.playing(file)
            let socket = try await open(player)
            _ = try await socket.receive()
            try await socket.ping()
            await socket.close(4001, reason: "seen")
            #expect(socket.closure?.code == 4001 && socket.closure?.isFromServer == false)
            #expect(player.faults == [])
        }
    }

    @Test("the archive of a browser is played")
    func browser() async throws {
        try await withFile { file in
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            let archive = """
                {"log": {"version": "1.2", "creator": {"name": "WebInspector", "version": "537.36"}, "pages": [],
                "entries": [{"_initiator": {"type": "script"}, "_priority": null, "_resourceType": "websocket",
                "_webSocketMessages": [
                  {"type": "send", "time": 1558730482.5071473, "opcode": 1, "data": "hello"},
                  {"type": "receive", "time": 1558730482.5883863, "opcode": 1, "data": "welcome"},
                  {"type": "receive", "time": 1558730482.6, "opcode": 2, "data": "AQI="}],
                "cache": {}, "pageref": "page_1", "time": 82.1, "timings": {},
                "request": {"method": "GET", "url": "wss://h.example/chat?room=7", "httpVersion": "HTTP/1.1",
                  "headers": [{"name": "Sec-WebSocket-Key", "value": "AQIDBAUGBwgJCgsMDQ4PEA=="}], "queryString": [],
                  "cookies": [], "headersSize": 500, "bodySize": 0},
                "response": {"status": 101, "statusText": "Switching Protocols", "httpVersion": "HTTP/1.1",
                  "headers": [{"name": "Upgrade", "value": "websocket"}, {"name": "Connection", "value": "Upgrade"},
                    {"name": "Sec-WebSocket-Extensions", "value": "permessage-deflate"},
                    {"name": "Sec-WebSocket-Accept", "value": "C/0nmHhBztSRGR1CwL6Tf4ZjwpY="}],
                  "cookies": [], "content": {"size": 0, "mimeType": "x-unknown"}, "redirectURL": "",
                  "headersSize": 200, "bodySize": 0, "_transferSize": 0, "_error": null},
                "serverIPAddress": "", "startedDateTime": "2019-05-24T20:41:22.228Z"}]}}
                """
            try Data(archive.utf8).write(to: file)
            let socket = try await open(try Cassette.playing(file))
            try await socket.send(.text("hello"))
            let (first, second) = try await (socket.receive(), socket.receive())
            #expect(first == .text("welcome") && second == .binary(Data([1, 2])))
            await socket.close()
        }
    }

    @Test("a refused handshake is played as the response that it was")
    func refused() async throws {
        try await withFile { file in
            let cassette = try Cassette(
                file: file, mode: .recordMissing, recording: StubSession(.text("no", statusCode: 403)))
            for session in [cassette as any NetworkSession, nil] {
                let failure = await #expect(throws: NetworkError.self) {
                    try await open(session ?? Cassette.playing(file))
                }
                #expect(failure?.code == .forbidden && failure?.body == Data("no".utf8))
                try cassette.save()
            }
        }
    }
}
