import Foundation
import Switchboard

/// One connection of a ``MockServer``, served by a separate thread from the first byte to the last.
struct MockConnection: Sendable {
    let number: Int
    let socket: Socket
    let core: MockServerCore

    /// Answers one request after the other, closes the connection, and reports which side ended it.
    func serve() {
        let isEndedByClient: Bool
        do {
            isEndedByClient = try serveRequests(over: ByteChannel(socket: socket, stop: core.stop))
        } catch {
            isEndedByClient = error as? ByteChannel.Interruption == .clientLeft
        }
        socket.close()
        core.state.withLock { $0.connectionEnded(number, byClient: isEndedByClient) }
    }

    /// Returns false when this side ended the connection.
    private func serveRequests(over channel: ByteChannel) throws -> Bool {
        let reader = RequestReader(
            channel: channel, connection: number, isSecure: core.tls != nil, limits: core.limits,
            scriptedBreak: { [core, number] stage in core.state.withLock { $0.takeBreak(upTo: stage, on: number) } })
        do {
            try reader.checkBreak(0)
            if let tls = core.tls, try !tls.begin(on: channel) { return false }
            while let request = try reader.next() {
                guard try answer(request, over: channel) else { return false }
            }
            channel.close()
            return true
        } catch let error as RequestError {
            core.state.withLock { $0.refuse(error, on: number) }
            try? send(WireResponse(error.response, to: nil), over: channel)
            // The client may still be sending.
            channel.close(waitingForRest: .seconds(30))
            return false
        } catch let broken as RequestReader.Broken {
            try endAsScripted(broken.response, over: channel)
            return false
        }
    }

    private func endAsScripted(_ response: MockResponse, over channel: ByteChannel) throws {
        if response.pace.delay > .zero { try channel.pause(until: .now + response.pace.delay) }
        let answer = WireResponse(response, to: nil)
        if answer.ending != .stall { core.state.withLock { $0.answering[number] = nil } }
        try end(answer, over: channel)
    }

    /// Returns false when the answer ended the connection.
    private func answer(_ request: RecordedRequest, over channel: ByteChannel) throws -> Bool {
        let response = core.response(to: request, on: number).refusingInvalidHeaders()
            .accepting(request.headers["Sec-WebSocket-Key"])
        if case .webSocket = response.outcome { try request.checkHandshake() }
        recordAnswer(request, response)
        if response.pace.delay > .zero { try channel.pause(until: .now + response.pace.delay) }
        let answer = WireResponse(response, to: request)
        try send(answer, over: channel) { isDone in
            isDone && answer.ending != .stall
                ? core.state.withLock { $0.answering[number] = nil } : recordAnswer(request, response)
        }
        if case .webSocket(let steps) = response.outcome {
            try play(ScriptedPeer(steps), of: request, over: channel) { recordAnswer(request, response) }
            return false
        }
        guard answer.ending != nil else { return true }
        try end(answer, over: channel)
        return false
    }

    /// Plays a WebSocket to its end, and records it before the client may connect again. Calls `willStall` before it stays
    /// silent to its end.
    private func play(
        _ peer: ScriptedPeer, of request: RecordedRequest, over channel: ByteChannel, willStall: () -> Void
    ) throws {
        var peer = peer
        func record() { core.state.withLock { $0.webSockets.append(RecordedWebSocket(peer, request)) } }
        do {
            while true {
                if let bytes = try channel.arrived() { peer.take(bytes) }
                switch peer.next() {
                case .send(let bytes): try channel.send(bytes)
                case .pause(let time): try channel.pause(until: .now + time)
                case .read:
                    guard let bytes = try channel.available() else { throw ByteChannel.Interruption.clientLeft }
                    peer.take(bytes)
                case .end(.stall):
                    willStall()
                    try channel.pause(until: nil)
                case .end(.reset):
                    record()
                    return channel.reset()
                case .end:
                    record()
                    return channel.close()
                }
            }
        } catch {
            if let rest = try? channel.arrived() { peer.take(rest) }
            record()
            throw error
        }
    }

    private func recordAnswer(_ request: RecordedRequest, _ response: MockResponse) {
        core.state.withLock { $0.answering[number] = "\(request): \(response)" }
    }

    /// Sends the bytes. `isDone` receives whether the last ones may have been sent.
    private func send(
        _ answer: WireResponse, over channel: ByteChannel, isDone: ((Bool) -> Void)? = nil
    ) throws {
        let last = answer.steps.lastIndex { if case .send(let bytes) = $0.action { !bytes.isEmpty } else { false } }
        if last == nil { isDone?(true) }
        for (index, step) in answer.steps.enumerated() {
            switch step.action {
            case .send(let bytes): try channel.send(bytes, isDone: index == last ? isDone : nil)
            case .pause(let time): try channel.pause(until: .now + time)
            case .end: break
            }
        }
    }

    private func end(_ answer: WireResponse, over channel: ByteChannel) throws {
        switch answer.ending {
        case nil: break
        case .stall: try channel.waitForEnd()
        case .reset: channel.reset()
        case .close: channel.close(isWhole: answer.isWhole)
        }
    }
}
