import Foundation
import Testing

@testable import SwitchboardMocks

struct ScriptedPeerTests {
    @Test("many messages that have arrived fulfill as many steps")
    func manyMessages() {
        let count = 100_000
        var peer = ScriptedPeer(Array(repeating: .receive, count: count) + [.drop])
        // An empty text, with a mask of zeros.
        peer.take(Data((0..<count).flatMap { _ in [0x81, 0x80, 0, 0, 0, 0] as [UInt8] }))
        guard case .end(.close) = peer.next() else {
            Issue.record("the peer waits")
            return
        }
        #expect(peer.messages.count == count)
    }
}
