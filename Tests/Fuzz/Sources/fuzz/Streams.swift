import Foundation
@testable import Switchboard
@testable import SwitchboardCurl
@testable import SwitchboardPlatform
@testable import SwitchboardStreams
@testable import SwitchboardWebSocket

extension Target {
    static let streams = [websocket, websocketDeflate, coding, multipart, events, lines]

    private static let websocket = Target("websocket") { bytes in
        let data = Data(bytes)
        for isCompressed in [false, true] {
            let whole = Events.read([Data(data.dropFirst())], isCompressed ? Events.inflater() : nil)
            let parts = Events.read(data.chunks, isCompressed ? Events.inflater() : nil)
            // A message that is both damaged and too large, after decompression, is refused for what is seen first.
            let isSame = isCompressed && whole.failure != nil && parts.failure != nil && whole.events == parts.events
            check(isSame || whole == parts, "the events of the whole \(whole) differ from those of chunks \(parts)")
        }
    } read: {
        _ = Events.read([Data($0)], nil)
    }

    private static let websocketDeflate = Target("websocket-deflate") { bytes in
        var choices = Choices(bytes)
        let deflater = Events.deflater()
        var stream = Data()
        var expected: [WebSocketEvent] = []
        for _ in 0..<4 {
            let message = Data(choices.text().utf8)
            expected.append(.message(.binary(message)))
            guard let compressed = deflater.compress(message) else { fatalError("not compressed: \(message)") }
            stream.append(contentsOf: [0xC2, UInt8(compressed.count)])
            stream += compressed
        }
        let result = Events.read(([UInt8(choices.number(below: 256))] + stream).chunks, Events.inflater())
        check(result.events == expected && result.failure == nil, "\(expected) became \(result)")
    } read: { bytes in
        let deflater = Events.deflater()
        _ = deflater.compress(Data(bytes))
    }

    private static let coding = Target("coding") { bytes in
        let data = Data(bytes)
        let names = Decoded.names[Int(data.first ?? 0) % Decoded.names.count]
        let (whole, parts) = (Decoded.read([Data(data.dropFirst())], names), Decoded.read(data.chunks, names))
        // The chunks decide how many bytes come before the damage, and whether data that ends early shows its damage.
        let isLong = max(whole.bytes.count, parts.bytes.count) >= Decoded.limit
        let isSame = isLong || !whole.isComplete && !parts.isComplete || whole == parts
        check(
            isSame && (whole.bytes.starts(with: parts.bytes) || parts.bytes.starts(with: whole.bytes)),
            "\(names): the whole becomes \(whole), and chunks \(parts)")
    } read: {
        _ = Decoded.read([Data($0)], ["gzip"])
    }

    private static let multipart = Target("multipart") { bytes in
        let data = Data(bytes)
        let (whole, parts) = (Parts.read([Data(data.dropFirst())]), Parts.read(data.chunks))
        check(whole == parts, "the parts of the whole \(whole) differ from those of chunks \(parts)")
    } read: {
        _ = Parts.read([Data($0)])
    }

    private static let events = Target("events") { bytes in
        let data = Data(bytes)
        let parts = Result { try ServerEvents.read(data.chunks) }
        guard let events = parts.value else { return }
        let expected = ServerEvents.expected(Data(data.dropFirst()))
        check(events == expected, "read \(events), expected \(expected)")
    } read: {
        _ = try? ServerEvents.read([Data($0)])
    }

    private static let lines = Target("lines") { bytes in
        let data = Data(bytes)
        let lines = Lines.read(data.chunks)
        let expected = Lines.expected(Data(data.dropFirst()))
        check(lines == expected, "read \(lines), expected \(expected)")
    } read: {
        _ = Lines.read([Data($0)])
    }
}

private struct Events: Equatable {
    var events: [WebSocketEvent] = []
    var failure: WebSocketCloseCode?

    static func inflater() -> MessageInflater { try! MessageInflater(try! Zlib.loaded.get(), keepsContext: true) }

    static func deflater() -> MessageDeflater {
        try! MessageDeflater(try! Zlib.loaded.get(), windowBits: 15, keepsContext: true)
    }

    static func read(_ chunks: [Data], _ inflater: MessageInflater?) -> Events {
        var reader = MessageReader(limit: 4_096, inflater: inflater)
        var result = Events()
        do throws(WebSocketViolation) {
            for chunk in chunks {
                let bytes = Array(chunk)
                let failure = bytes.withUnsafeBytes { bytes -> WebSocketViolation? in
                    var rest = bytes
                    do throws(WebSocketViolation) {
                        while let event = try reader.next(&rest) { result.events.append(event) }
                        return nil
                    } catch { return error }
                }
                if let failure { throw failure }
            }
        } catch { result.failure = error.code }
        return result
    }
}

private struct Decoded: Equatable {
    static let names = [["gzip"], ["deflate"], ["br"], ["zstd"], ["deflate", "gzip"], ["zstd", "br"]]
    /// A few bytes may become gigabytes.
    static let limit = 1 << 20

    var bytes = Data()
    var isComplete = false
    var isDamaged = false

    static func read(_ chunks: [Data], _ names: [String]) -> Decoded {
        var result = Decoded()
        let decoder = try! ContentDecoder(names)
        for chunk in chunks {
            chunk.withUnsafeBytes { bytes in
                decoder.feed(bytes)
                do throws(DynamicLibrary.Failure) {
                    while result.bytes.count < limit, let piece = try decoder.next() {
                        result.bytes.append(contentsOf: piece)
                    }
                } catch { result.isDamaged = true }
            }
            if result.isDamaged { return result }
            if result.bytes.count >= limit { return Decoded(bytes: result.bytes.prefix(limit)) }
        }
        result.isComplete = decoder.isComplete
        return result
    }
}

private struct Parts: Equatable {
    var parts: [ResponsePart] = []
    var failure: NetworkError.Code?

    static func read(_ chunks: [Data]) -> Parts {
        var scanner = MultipartScanner(boundary: "b", limit: 2_048)
        var result = Parts()
        do throws(NetworkError) {
            for chunk in chunks {
                scanner.push(chunk)
                while let part = try scanner.next() { result.parts.append(part) }
            }
            scanner.finish()
            while let part = try scanner.next() { result.parts.append(part) }
        } catch { result.failure = error.code }
        return result
    }
}

private enum ServerEvents {
    static func read(_ chunks: [Data]) throws -> [ServerSentEvent] {
        var parser = EventStreamParser(limit: 1 << 20)
        var events: [ServerSentEvent] = []
        for chunk in chunks { try parser.parse(chunk) { events.append($0) } }
        try parser.parse(nil) { events.append($0) }
        return events
    }

    /// The algorithm of HTML §9.2.6, line by line.
    static func expected(_ data: Data) -> [ServerSentEvent] {
        var bytes = Array(data)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        var (type, lines, id, retry): (String, [[UInt8]], String, Duration?) = ("", [], "", nil)
        var events: [ServerSentEvent] = []
        for line in Lines.ended(bytes) {
            guard !line.isEmpty else {
                if !lines.isEmpty {
                    let text = String(decoding: Array(lines.joined(separator: [0x0A])), as: UTF8.self)
                    events.append(
                        ServerSentEvent(type: type.isEmpty ? "message" : type, data: text, id: id, retry: retry))
                }
                (type, lines) = ("", [])
                continue
            }
            let parts = line.split(separator: 0x3A, maxSplits: 1, omittingEmptySubsequences: false)
            var value = parts.count > 1 ? Array(parts[1]) : []
            if value.first == 0x20 { value.removeFirst() }
            let text = String(decoding: value, as: UTF8.self)
            switch String(decoding: parts[0], as: UTF8.self) {
            case "data": lines.append(value)
            case "event": type = text
            case "id": if !value.contains(0) { id = text }
            case "retry":
                let isNumber = !value.isEmpty && value.allSatisfy { (0x30...0x39).contains($0) }
                if isNumber, let time = Int64(text) { retry = .milliseconds(time) }
            default: break
            }
        }
        return events
    }
}

private enum Lines {
    static func read(_ chunks: [Data]) -> [[UInt8]] {
        var scanner = LineScanner(limit: 1 << 20)
        var lines: [[UInt8]] = []
        for chunk in chunks { try? scanner.scan(chunk) { lines.append(Array($0)) } }
        try? scanner.scan(nil) { lines.append(Array($0)) }
        return lines
    }

    /// The lines that have an end.
    static func ended(_ bytes: [UInt8]) -> [[UInt8]] {
        var (lines, line): ([[UInt8]], [UInt8]) = ([], [])
        for (index, byte) in bytes.enumerated() {
            let isSecond = byte == 0x0A && index > 0 && bytes[index - 1] == 0x0D
            if isSecond { continue }
            if byte == 0x0A || byte == 0x0D {
                lines.append(line)
                line = []
            } else {
                line.append(byte)
            }
        }
        return lines
    }

    static func expected(_ data: Data) -> [[UInt8]] {
        let bytes = Array(data)
        let lines = ended(bytes)
        let rest = bytes.reversed().prefix { $0 != 0x0A && $0 != 0x0D }.reversed()
        return rest.isEmpty ? lines : lines + [Array(rest)]
    }
}
