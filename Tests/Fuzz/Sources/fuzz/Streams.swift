import Foundation
@testable import Switchboard
@testable import SwitchboardCurl
import SwitchboardJSON
@testable import SwitchboardPlatform
@testable import SwitchboardStreams
@testable import SwitchboardWebSocket

extension Target {
    static let streams = [websocket, websocketDeflate, coding, multipart, events, lines, jsonLines]

    private static let websocket = Target("websocket") { bytes in
        let (data, selector) = bytes.splitSelector
        // The zero that the corpus has behind each input selects the usual limit and a window that is kept.
        let (limit, keepsContext) = (selector & 1 == 0 ? 4_096 : 64, selector & 2 == 0)
        for isCompressed in [false, true] {
            func read(_ chunks: [Data]) -> Events {
                Events.read(chunks, isCompressed ? Events.inflater(keepsContext: keepsContext) : nil, limit: limit)
            }
            let (whole, parts) = (read([Data(data.dropFirst())]), read(data.chunks))
            // A message that is both damaged and too large, after decompression, is refused for what is seen first.
            let isSame = isCompressed && whole.failure != nil && parts.failure != nil && whole.events == parts.events
            check(isSame || whole == parts, "the events of the whole \(whole) differ from those of chunks \(parts)")
            for case .message(let message) in whole.events {
                check(message.size <= limit, "a message of \(message.size) bytes is above the limit of \(limit)")
            }
        }
    } read: {
        _ = Events.read([Data($0)], nil, limit: 4_096)
    }

    private static let websocketDeflate = Target("websocket-deflate") { bytes in
        var choices = Choices(bytes)
        let keepsContext = choices.lastNumber(below: 2) == 0
        let windowBits = 15 - choices.lastNumber(below: 7)
        // Long messages are larger than a small window.
        let repeats = choices.lastElement([1, 40, 7])
        let isFragmented = choices.lastNumber(below: 2) == 1
        let deflater = Events.deflater(windowBits: windowBits, keepsContext: keepsContext)
        var stream = Data()
        var expected: [WebSocketEvent] = []
        for index in 0..<4 {
            let text = choices.text()
            let message = Data((0..<repeats).map { repeats == 1 ? text : "\(text)\($0 * $0)" }.joined().utf8)
            expected.append(.message(.binary(message)))
            guard let compressed = deflater.compress(message) else { fatalError("not compressed: \(message)") }
            let cut = isFragmented ? compressed.count * index / 4 : compressed.count
            // Only the first frame of a message says that it is compressed.
            if isFragmented { stream += Events.frame(0x42, compressed.prefix(cut)) }
            stream += Events.frame(isFragmented ? 0x80 : 0xC2, isFragmented ? compressed.dropFirst(cut) : compressed)
        }
        let inflater = Events.inflater(keepsContext: keepsContext)
        let chunks = ([UInt8(choices.number(below: 256))] + stream).chunks
        let result = Events.read(chunks, inflater, limit: 8_192)
        check(result.events == expected && result.failure == nil, "\(expected) became \(result)")
    } read: { bytes in
        let deflater = Events.deflater(windowBits: 15, keepsContext: true)
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
        let (data, selector) = bytes.splitSelector
        let boundary = ["b", "bc", "b-", "--", "b b", "'"][selector % 6]
        func read(_ chunks: [Data], limit: Int) -> Parts { Parts.read(chunks, boundary: boundary, limit: limit) }
        let whole = read([Data(data.dropFirst())], limit: 2_048)
        let parts = read(data.chunks, limit: 2_048)
        check(whole == parts, "the parts of the whole \(whole) differ from those of chunks \(parts)")
        let (few, fewParts) = (read([Data(data.dropFirst())], limit: 64), read(data.chunks, limit: 64))
        check(few == fewParts, "with a limit, the parts of the whole \(few) differ from those of chunks \(fewParts)")
        let start = whole.parts.prefix { $0.body.count <= 64 }
        if few.failure == .responseTooLarge, whole.failure != .responseTooLarge {
            let isLarge = start.count < whole.parts.count || whole.failure != nil
            check(isLarge && few.parts == Array(start), "\(few) with a limit of 64 bytes, without it \(whole)")
        } else {
            check(few == whole && start.count == whole.parts.count, "\(few) with a limit, without it \(whole)")
        }
    } read: {
        _ = Parts.read([Data($0)], boundary: "b", limit: 2_048)
    }

    private static let events = Target("events") { bytes in
        let data = Data(bytes)
        let all = Data(data.dropFirst())
        let expected = ServerEvents.expected(all)
        for limit in [1 << 20, 64] {
            var events: [ServerSentEvent] = []
            let result = Result { try ServerEvents.read(data.chunks, limit: limit) { events.append($0) } }
            guard ServerEvents.isLarge(all, limit) else {
                check(
                    result.value != nil && events == expected,
                    "read \(events) with a limit of \(limit), expected \(expected): \(result)")
                continue
            }
            check(
                (result.failure as? NetworkError)?.code == .responseTooLarge && expected.starts(with: events),
                "read \(events) above the limit of \(limit), expected a part of \(expected): \(result)")
        }
    } read: {
        try? ServerEvents.read([Data($0)], limit: 1 << 20) { _ in }
    }

    private static let lines = Target("lines") { bytes in
        let data = Data(bytes)
        let expected = Lines.expected(Data(data.dropFirst()))
        for limit in [1 << 20, 64] {
            var lines: [[UInt8]] = []
            let result = Result { try Lines.read(data.chunks, limit: limit) { lines.append($0) } }
            let start = Array(expected.prefix { $0.count <= limit })
            let code = (result.failure as? NetworkError)?.code
            check(
                lines == start && (result.value != nil) == (start == expected)
                    && (result.value != nil || code == .responseTooLarge),
                "read \(lines) with a limit of \(limit), expected \(expected): \(result)")
        }
    } read: {
        try? Lines.read([Data($0)], limit: 1 << 20) { _ in }
    }

    private static let jsonLines = Target("json-lines") { bytes in
        let data = Data(bytes)
        let all = Lines.expected(Data(data.dropFirst()))
        for limit in [1 << 20, 64] {
            var values: [Tree] = []
            let result = Result { try JSONLines.read(data.chunks, limit: limit) { values.append($0) } }
            let (expected, failure) = JSONLines.expected(all, limit)
            check(
                values.count == expected.count && zip(values, expected).allSatisfy { $0.isSame(as: $1) },
                "read \(values) with a limit of \(limit), expected \(expected)")
            let error = result.failure as? NetworkError
            switch failure {
            case nil: check(result.value != nil, "\(result), but all lines are right")
            case .large: check(error?.code == .responseTooLarge, "\(result), but a line is too long")
            case .wrong(let number):
                check(
                    error?.code == .decodingFailed && error?.reason?.utf8.starts(with: "line \(number): ".utf8) == true,
                    "\(result), but line \(number) is wrong")
            }
        }
    } read: {
        try? JSONLines.read([Data($0)], limit: 1 << 20) { _ in }
    }
}

extension UnsafeRawBufferPointer {
    /// The input without its last byte, and that byte.
    fileprivate var splitSelector: (Data, selector: Int) { (Data(dropLast()), Int(last ?? 0)) }
}

private struct Events: Equatable {
    var events: [WebSocketEvent] = []
    var failure: WebSocketCloseCode?

    static func inflater(keepsContext: Bool) -> MessageInflater {
        try! MessageInflater(try! Zlib.loaded.get(), keepsContext: keepsContext)
    }

    static func deflater(windowBits: Int, keepsContext: Bool) -> MessageDeflater {
        try! MessageDeflater(try! Zlib.loaded.get(), windowBits: windowBits, keepsContext: keepsContext)
    }

    /// A frame of a server.
    static func frame(_ first: UInt8, _ payload: Data) -> Data {
        let count = payload.count
        let length = count < 126 ? [UInt8(count)] : [126, UInt8(count >> 8), UInt8(count & 0xFF)]
        return Data([first] + length) + payload
    }

    static func read(_ chunks: [Data], _ inflater: MessageInflater?, limit: Int) -> Events {
        var reader = MessageReader(limit: limit, inflater: inflater)
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

    static func read(_ chunks: [Data], boundary: String, limit: Int) -> Parts {
        var scanner = MultipartScanner(boundary: boundary, limit: limit)
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
    static func read(_ chunks: [Data], limit: Int, _ body: (ServerSentEvent) -> Void) throws {
        var parser = EventStreamParser(limit: limit)
        for chunk in chunks { try parser.parse(chunk, body) }
        try parser.parse(nil, body)
    }

    /// Whether a line, ended or not, or the data of an event is above a limit.
    static func isLarge(_ data: Data, _ limit: Int) -> Bool {
        if Lines.expected(data).contains(where: { $0.count > limit }) { return true }
        var bytes = Array(data)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        var count = -1
        for line in Lines.ended(bytes) {
            if line.isEmpty { count = -1 }
            guard line.starts(with: "data".utf8), line.count == 4 || line[4] == 0x3A else { continue }
            // A line feed joins two lines.
            count += 1 + max(0, line.count - (line.dropFirst(5).first == 0x20 ? 6 : 5))
            if count > limit { return true }
        }
        return false
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
    static func read(_ chunks: [Data], limit: Int, _ body: ([UInt8]) -> Void) throws {
        var scanner = LineScanner(limit: limit)
        for chunk in chunks { try scanner.scan(chunk) { body(Array($0)) } }
        try scanner.scan(nil) { body(Array($0)) }
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

private enum JSONLines {
    enum Failure { case large, wrong(line: Int) }

    static func read(_ chunks: [Data], limit: Int, _ body: (Tree) -> Void) throws {
        var parser = JSONLineParser<Tree, Int>(limit: limit, position: nil, cursor: { $0.elements?.count }) { line in
            try FastJSONDecoder().decode(Tree.self, from: line)
        }
        for chunk in chunks { try parser.parse(chunk, body) }
        try parser.parse(nil, body)
    }

    /// Decodes the lines that are not blank, up to the first that is too long or wrong.
    static func expected(_ lines: [[UInt8]], _ limit: Int) -> ([Tree], Failure?) {
        var values: [Tree] = []
        for (index, line) in lines.enumerated() {
            if line.count > limit { return (values, .large) }
            guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else { continue }
            guard let value = try? FastJSONDecoder().decode(Tree.self, from: Data(line)) else {
                return (values, .wrong(line: index + 1))
            }
            values.append(value)
        }
        return (values, nil)
    }
}
