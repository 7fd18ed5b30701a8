import Foundation

/// One connection of a ``MockServer``, served by a thread of its own from the first byte to the last.
struct MockConnection: Sendable {
    let number: Int
    let socket: Socket
    let core: MockServerCore

    /// Answers request after request, then closes, then reports who ended it.
    func serve() {
        let channel = ByteChannel(socket: socket, stop: core.stop)
        let isEndedByClient = converse(over: channel)
        socket.close()
        core.connectionEnded(number, byClient: isEndedByClient)
    }

    /// False when this side ended it.
    private func converse(over channel: ByteChannel) -> Bool {
        let reader = RequestReader(channel: channel, connection: number, configuration: core.configuration)
        do {
            while let request = try reader.next() {
                guard try answer(request, over: channel) else { return false }
            }
            return true
        } catch let fault as RequestFault {
            try? WireResponse(fault.response, to: nil).forEachPiece(channel.send)
            // The client may still be sending what nobody reads.
            channel.close(waitingForRest: .seconds(1))
            return false
        } catch {
            return error as? ByteChannel.Interruption == .clientLeft
        }
    }

    /// False when the connection is over with it.
    private func answer(_ request: RecordedRequest, over channel: ByteChannel) throws -> Bool {
        let response = core.response(to: request)
        if response.delay > .zero { try channel.pause(until: .now + response.delay) }
        let answer = WireResponse(response, to: request)
        try answer.forEachPiece(channel.send)
        switch answer.ending {
        case .keepAlive: return true
        case .stall: try channel.pause(until: nil)
        case .reset: channel.reset()
        case .close: channel.close()
        }
        return false
    }
}
