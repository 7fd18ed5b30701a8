import Foundation
import Switchboard

/// The expected content of a form.
struct Form: Codable {
    struct Part: Codable {
        let name: String
        let fileName: String?
        let contentType: String?
        /// The content in Base64.
        let content: String
    }

    let body: String
    let contentType: String
    let parts: [Part]
}

/// Creates a form from a seed: names with quotation marks, line ends and non-ASCII text, and contents that look like
/// boundaries, are empty or are large.
struct FormMaker {
    private var generator: SeededGenerator
    private let folder: URL
    private let number: Int

    init(seed: UInt64, folder: URL, number: Int) {
        generator = SeededGenerator(seed: seed)
        self.folder = folder
        self.number = number
    }

    private mutating func random(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }

    private mutating func text(_ pieces: [String], _ most: Int) -> String {
        (0..<random(below: most + 1)).map { _ in pieces[random(below: pieces.count)] }.joined()
    }

    private mutating func bytes(_ count: Int) -> Data {
        Data((0..<count).map { _ in UInt8(truncatingIfNeeded: random(below: 256)) })
    }

    /// Returns a random content. Every two-hundredth form has a part of 10 MB.
    private mutating func content(_ index: Int) -> Data {
        if number % 200 == 7, index == 0 { return Data(repeating: UInt8(number % 251), count: 10_000_000) }
        switch random(below: 6) {
        case 0: return Data()
        case 1: return Data("--".utf8)
        case 2: return Data("\r\n--switchboard-0123456789abcdef\r\n--\r\n\r\n--switchboard-\r\n".utf8)
        case 3: return Data(text(["\r", "\n", "\r\n", "--", "a"], 40).utf8)
        case 4: return bytes(random(below: 5_000))
        default: return Data("text \(random(below: 1_000)) é".utf8)
        }
    }

    mutating func write() async throws -> Form {
        // No backslash: some parsers treat it as an escape, which it is not in HTML's forms.
        let pieces = ["a", "\"", "\r\n", "é", "🎬", ";", "=", " x ", "%", "'", "日本", ":", "--b", ","]
        var parts: [MultipartBody.Part] = []
        var expected: [Form.Part] = []
        for index in 0..<random(below: 6) {
            let name = "n" + text(pieces, 6)
            let content = content(index)
            switch random(below: 4) {
            case 0:
                let value = "v" + text(["a", "\r\n", "\"", "é", "--", "&", "+"], 20)
                parts.append(.field(name, value))
                expected.append(part(name, nil, nil, Data(value.utf8)))
            case 1:
                let fileName = "f" + text(pieces.filter { $0 != "\r\n" } + ["\n", "\r"], 6) + ".bin"
                parts.append(.data(name, content, fileName: fileName))
                expected.append(part(name, fileName, "application/octet-stream", content))
            case 2:
                let file = folder.appendingPathComponent("\(number)-\(index).txt")
                try content.write(to: file)
                parts.append(.file(name, file))
                expected.append(part(name, file.lastPathComponent, "text/plain", content))
            default:
                let length = random(below: 2) == 0 ? nil : Int64(content.count)
                let stream = StreamBody(length: length, contentType: "x/stream") {
                    let chunks = Chunks(content)
                    return HTTPBodyStream { await chunks.next() }
                }
                parts.append(.body(name, stream, fileName: "stream.dat"))
                expected.append(part(name, "stream.dat", "x/stream", content))
            }
        }
        let form = MultipartBody(parts)
        var sent = Data()
        for try await chunk in try form.makeStream() { sent += chunk }
        if let length = form.length, length != Int64(sent.count) {
            throw NetworkError(
                .encodingFailed, reason: "form \(number) announces \(length) bytes and has \(sent.count)")
        }
        try sent.write(to: folder.appendingPathComponent("\(number).body"))
        return Form(body: "\(number).body", contentType: form.additionalHeaders["Content-Type"] ?? "", parts: expected)
    }

    private func part(_ name: String, _ fileName: String?, _ type: String?, _ content: Data) -> Form.Part {
        Form.Part(name: name, fileName: fileName, contentType: type, content: content.base64EncodedString())
    }
}

/// Content in pieces of many sizes.
actor Chunks {
    private var rest: Data
    private var size = 1

    init(_ data: Data) {
        rest = data
    }

    func next() -> Data? {
        guard !rest.isEmpty else { return nil }
        let chunk = rest.prefix(size)
        rest = Data(rest.dropFirst(size))
        size = min(size * 2 + 1, 1 << 18)
        return chunk
    }
}
