import Foundation
import Switchboard
import SwitchboardWebSocket

/// The ends of sockets. Each socket must end once, and only with errors of the package.
extension Run {
    var races: [(name: String, check: @Sendable () async throws -> Void)] {
        [
            ("close by the client", closing), ("close by the server", closed), ("close by both", closingBoth),
            ("close while the server sends", closingAmidFlood),
            ("close by the server while the client sends", closedAmidSending),
            ("a connection that the server drops", dropped), ("cancellation", cancellation),
        ]
    }

    private var rounds: Int { max(10, messages / 200) }

    private func closing() async throws {
        let socket = try await open()
        await socket.close(WebSocketCloseCode(rawValue: 3_001), reason: "enough")
        try expect(
            socket.closure?.code.rawValue == 3_001 && socket.closure?.isFromServer == false,
            "\(String(describing: socket.closure))")
        do {
            try await socket.send(.text("late"))
            throw Mismatch(description: "a message was sent after the end")
        } catch let error as NetworkError where error.code == .webSocketClosed {}
    }

    private func closed() async throws {
        let socket = try await open()
        try await socket.send(.text("close"))
        let answer = try await socket.receive()
        try expect(
            answer == nil && socket.closure?.code == .goingAway && socket.closure?.isFromServer == true,
            "\(String(describing: socket.closure))")
    }

    private func closingBoth() async throws {
        for _ in 0..<rounds {
            let socket = try await open()
            try await socket.send(.text("close"))
            await socket.close(.normalClosure, reason: "me too")
            try expect(socket.closure != nil, "no closure")
        }
    }

    private func closingAmidFlood() async throws {
        for round in 0..<rounds {
            let socket = try await open { $0.receiveBufferLimit = 1 << 16 }
            try await socket.send(.text("flood 200 5000"))
            for _ in 0..<(round % 20) { _ = try await socket.receive() }
            await socket.close()
            try expect(socket.closure?.code == .normalClosure, "\(String(describing: socket.closure))")
            let next = try await socket.receive()
            try expect(next == nil, "a message came after the end")
        }
    }

    private func closedAmidSending() async throws {
        for round in 0..<rounds {
            let socket = try await open()
            do {
                for number in 0..<50 {
                    try await socket.send(.text(number == round % 20 ? "close" : String(repeating: "x", count: 3_000)))
                }
            } catch let error as NetworkError where error.code == .webSocketClosed || error.code == .connectionLost {}
            do {
                while try await socket.receive() != nil {}
                try expect(socket.closure?.code == .goingAway, "\(String(describing: socket.closure))")
            } catch let error as NetworkError where error.code == .connectionLost {
                // A server that closes a socket with unread bytes resets it, which may discard its Close frame.
            }
        }
    }

    private func dropped() async throws {
        for round in 0..<rounds {
            let socket = try await open()
            do {
                try await socket.send(.text("drop"))
            } catch let error as NetworkError where error.code == .connectionLost {}
            if round % 2 == 0 {
                do {
                    let answer = try await socket.receive()
                    throw Mismatch(description: "\(String(describing: answer)) instead of an error")
                } catch let error as NetworkError where error.code == .connectionLost {}
            } else {
                await socket.close()
            }
        }
    }

    private func cancellation() async throws {
        for number in 0..<rounds {
            let socket = try await open()
            let reading = Task { for try await _ in socket {} }
            try? await socket.send(.text("\(number)"))
            reading.cancel()
            do {
                try await reading.value
                throw Mismatch(description: "the reading ended without an error")
            } catch is CancellationError {}
        }
    }
}
