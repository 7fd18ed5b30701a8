import Foundation
import SwitchboardPlatform
import Testing
import SwitchboardTestSupport
@testable import SwitchboardWebSocket

/// Frames of seeded random numbers.
@Suite("WebSocket random frames") struct WebSocketRandomTests {
    private enum End: Hashable { case event, violation(UInt16), lost }

    private static let count = cases(20_000)

    @Test("each random frame ends in a message or an error", arguments: [false, true])
    func frames(_ isCompressed: Bool) throws {
        var generator = SeededGenerator(seed: isCompressed ? 7_692 : 6_455)
        let zlib = try Zlib.loaded.get()
        var ends: [End: Int] = [:]
        for number in 0..<Self.count / 2 {
            let frame = frame(&generator, isCompressed)
            // Ends the message that the frame may have begun.
            let stream = frame + ClientCase.frame(0x0)
            let inflater = isCompressed ? try MessageInflater(zlib, keepsContext: true) : nil
            let end = end(of: stream, MessageReader(limit: 200, inflater: inflater), &generator)
            ends[end, default: 0] += 1
            // Only a frame whose length exceeds the stream may wait for more.
            if end == .lost, announced(frame) <= UInt64(frame.count) {
                Issue.record("frame \(number) of \(Array(frame)) has no end")
                return
            }
        }
        #expect(ends.values.reduce(0, +) == Self.count / 2)
        #expect(Set(ends.keys) == [.event, .violation(1002), .violation(1007), .violation(1009), .lost])
        print("\(isCompressed ? "compressed" : "plain") frames: \(ends.sorted { $0.value > $1.value })")
    }

    /// Returns a frame: mostly a valid header, mostly the right length, and content of any kind.
    private func frame(_ generator: inout SeededGenerator, _ isCompressed: Bool) -> Data {
        if generator.oneIn(5) { return random(Int.random(in: 2...40, using: &generator), &generator) }
        var opcode = UInt8([0, 1, 1, 1, 2, 2, 8, 9, 10].randomElement(using: &generator) ?? 1)
        if generator.oneIn(30) { opcode = UInt8.random(in: 0...15, using: &generator) }
        var reserved: UInt8 = isCompressed && (opcode == 1 || opcode == 2) && !generator.oneIn(3) ? 4 : 0
        if generator.oneIn(30) { reserved = UInt8.random(in: 0...7, using: &generator) }
        let isFinal = opcode >= 8 ? !generator.oneIn(20) : !generator.oneIn(3)
        return ClientCase.frame(opcode, content(&generator), isFinal: isFinal, reserved: reserved)
    }

    private func content(_ generator: inout SeededGenerator) -> Data {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: Data()
        case 1: Data(generator.text(upTo: 30).utf8)
        case 2: Data("Hello".utf8)
        case 3: Data([0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00])
        case 4: Data([0x03, 0xE8]) + Data(generator.text(upTo: 20).utf8)
        default: random(Int.random(in: 1...250, using: &generator), &generator)
        }
    }

    private func random(_ count: Int, _ generator: inout SeededGenerator) -> Data {
        Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    private func announced(_ frame: Data) -> UInt64 {
        let short = UInt64(frame[1] & 0x7F)
        let size = short == 126 ? 2 : short == 127 ? 8 : 0
        guard frame.count >= 2 + size else { return .max }
        return size == 0 ? short + 2 : frame[2..<(2 + size)].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func end(of stream: Data, _ reader: MessageReader, _ generator: inout SeededGenerator) -> End {
        var (reader, rest, end) = (reader, stream, End.lost)
        do throws(WebSocketViolation) {
            while !rest.isEmpty {
                let count = Int.random(in: 1...40, using: &generator)
                var piece = Data(rest.prefix(count))
                rest = rest.dropFirst(count)
                while try reader.next(&piece) != nil { end = .event }
            }
        } catch {
            return .violation(error.code.rawValue)
        }
        return end
    }
}
