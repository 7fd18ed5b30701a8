import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

/// The bytes of a form, expected by RFC 7578 and HTML's multipart/form-data encoding algorithm.
@Suite(.timeLimit(.minutes(10)))
struct MultipartBodyTests {
    private func text(_ form: MultipartBody) throws -> String {
        String(decoding: try form.encode(), as: UTF8.self)
    }

    private func streamed(_ body: any HTTPBody) async throws -> Data {
        var bytes = Data()
        for try await chunk in try body.makeStream() { bytes += chunk }
        return bytes
    }

    @Test("a form is its parts between boundaries, with no extra bytes", .requirement("S2.8"))
    func bytes() async throws {
        let form = MultipartBody(
            [
                .field("title", "Holiday"), .data("note", Data("hello".utf8), fileName: "note.txt"),
                .data("raw", Data(), fileName: "empty", contentType: "x/y"), .body("meta", JSONBody(["a": 1])),
            ],
            boundary: "b0")
        let expected = [
            "--b0", #"Content-Disposition: form-data; name="title""#, "", "Holiday",
            "--b0", #"Content-Disposition: form-data; name="note"; filename="note.txt""#, "Content-Type: text/plain",
            "",
            "hello",
            "--b0", #"Content-Disposition: form-data; name="raw"; filename="empty""#, "Content-Type: x/y", "", "",
            "--b0", #"Content-Disposition: form-data; name="meta""#, "Content-Type: application/json; charset=utf-8",
            "",
            #"{"a":1}"#,
            "--b0--", "",
        ]
        #expect(try text(form) == expected.joined(separator: "\r\n"))
        let whole = try form.encode()
        #expect(try await streamed(form) == whole)
        #expect(form.length == Int64(whole.count))
        #expect(form.additionalHeaders == ["Content-Type": "multipart/form-data; boundary=b0"])
        #expect(form.isStreamed && form.isReplayable && !form.isEmpty)
    }

    @Test("a form with an impossible length of a part has no length", arguments: [Int64.max, .max - 100, -1, .min])
    func impossibleLengths(length: Int64) {
        let part = MultipartBody.Part.body("f", StreamBody(length: length) { HTTPBodyStream { nil } })
        #expect(MultipartBody(part).length == nil)
        #expect(MultipartBody(part, part, .field("a", "b")).length == nil)
    }

    @Test("a form without parts is only its closing boundary")
    func nothing() throws {
        let form = MultipartBody([], boundary: "b0")
        #expect(try text(form) == "--b0--\r\n")
        #expect(form.length == 8)
    }

    @Test(
        "quotes and line ends in names are escaped; the rest stays unchanged", .requirement("S0.16"),
        arguments: [
            (#"a"b"#, "a%22b"), ("a\r\nb", "a%0D%0Ab"), ("a\nb", "a%0D%0Ab"), ("a\rb", "a%0D%0Ab"), ("é🎬", "é🎬"),
            ("a%22b", "a%22b"), (#"a\b"#, #"a\b"#), ("", ""), ("a;b=c", "a;b=c"), ("a\r", "a%0D%0A"),
        ])
    func names(name: String, written: String) throws {
        let form = MultipartBody([.field(name, "v")], boundary: "b0")
        #expect(try text(form).hasPrefix("--b0\r\nContent-Disposition: form-data; name=\"\(written)\"\r\n\r\nv\r\n"))
    }

    @Test("a file name's line ends are escaped unchanged; a field's become CRLF")
    func lineEnds() throws {
        let form = MultipartBody([.data("f", Data("a\nb".utf8), fileName: "x\ny\"z")], boundary: "b0")
        #expect(try text(form).contains("filename=\"x%0Ay%22z\"\r\n"))
        #expect(try text(form).contains("\r\n\r\na\nb\r\n"))
        #expect(
            try text(MultipartBody([.field("f", "a\nb\rc\r\nd")], boundary: "b0")).contains("a\r\nb\r\nc\r\nd\r\n--"))
    }

    @Test("a part's header cannot start another header")
    func injection() {
        let form = MultipartBody(.data("f", Data(), fileName: "x", contentType: "a/b\r\nX-Evil: 1"))
        #expect(throws: NetworkError.self) { try form.encode() }
        #expect(form.length == nil)
    }

    @Test(
        "the media type follows the ending of the file's name", .requirement("S1.16"),
        arguments: [
            ("a.JPG", "image/jpeg"), ("a.tar.gz", "application/gzip"), ("a", "application/octet-stream"),
            ("a.", "application/octet-stream"), (".json", "application/json"), ("a.b.PNG", "image/png"),
            ("a.txt", "text/plain"), ("a.unheard", "application/octet-stream"),
        ])
    func types(name: String, type: String) throws {
        let form = MultipartBody([.data("f", Data(), fileName: name)], boundary: "b0")
        #expect(try text(form).contains("Content-Type: \(type)\r\n"))
        // A file as the whole body has the same type.
        let file = URL(fileURLWithPath: "/folder/\(name)")
        #expect(FileBody(file).additionalHeaders["Content-Type"] == type)
        #expect(FileBody(file, contentType: "a/b").additionalHeaders["Content-Type"] == "a/b")
    }

    // MARK: Boundaries

    @Test("each form has a unique boundary, the same for each send")
    func boundaries() throws {
        let forms = (0..<1_000).map { _ in MultipartBody(.field("a", "b")) }
        #expect(Set(forms.map(\.boundary)).count == 1_000)
        let first = try forms[0].encode()
        #expect(try forms[0].encode() == first)
        #expect(forms.allSatisfy { (1...70).contains($0.boundary.count) })
    }

    @Test("an invalid boundary, or one that the content has, fails the request", arguments: [true, false])
    func badBoundaries(streams: Bool) async throws {
        func bytes(_ form: MultipartBody) async throws -> Data {
            try await streams ? streamed(form) : form.encode()
        }
        for boundary in ["", "a b ", "a\r\nb", "ä", String(repeating: "x", count: 71), "a\"b"] {
            let error = await #expect(throws: NetworkError.self) {
                try await bytes(MultipartBody([.field("a", "b")], boundary: boundary))
            }
            #expect(error?.code == .encodingFailed)
            #expect(MultipartBody([], boundary: boundary).length == nil)
        }
        let held = MultipartBody([.field("a", "x"), .field("b", "x--b0")], boundary: "b0")
        let error = await #expect(throws: NetworkError.self) { try await bytes(held) }
        #expect(error?.reason == "a part contains the given boundary")
        let near = try await bytes(MultipartBody([.field("a", "--b"), .field("0", "b0")], boundary: "b0"))
        #expect(!near.isEmpty)
        let spaced = MultipartBody([], boundary: "a b:c")
        #expect(spaced.additionalHeaders["Content-Type"] == #"multipart/form-data; boundary="a b:c""#)
    }

    @Test("a boundary is found in content whose chunks cut it anywhere", arguments: 1...8)
    func cutBoundaries(size: Int) async throws {
        let bytes = Array("before\r\n--boundary behind".utf8)
        let stream = StreamBody {
            let chunks = stride(from: 0, to: bytes.count, by: size).map {
                Data(bytes[$0..<min($0 + size, bytes.count)])
            }
            let rest = Chunks(chunks)
            return HTTPBodyStream { await rest.next() }
        }
        let form = MultipartBody([.body("a", stream)], boundary: "boundary")
        await #expect(throws: NetworkError.self) { try await streamed(form) }
        let other = MultipartBody([.body("a", stream)], boundary: "boundarY")
        #expect(try await streamed(other).count > bytes.count)
        #expect(other.length == nil)
    }

    private actor Chunks {
        private var rest: [Data]
        init(_ chunks: [Data]) { rest = chunks }
        func next() -> Data? { rest.isEmpty ? nil : rest.removeFirst() }
    }

    // MARK: Files

    @Test("an unreadable file is named; nothing is sent, or the other parts are", .requirement("S0.17"))
    func unreadableFiles() async throws {
        try await withFolder { folder in
            let there = folder.appendingPathComponent("there.txt")
            try Data("hello".utf8).write(to: there)
            let missing = folder.appendingPathComponent("missing.txt")
            let parts: [MultipartBody.Part] = [
                .field("a", "b"), .file("f", missing), .file("g", there), .file("h", folder),
            ]
            let strict = MultipartBody(parts)
            #expect(strict.failedFiles == [missing.path, folder.path])
            let error = #expect(throws: NetworkError.self) { try strict.makeStream() }
            #expect(error?.code == .unreadableFile)
            #expect(error?.reason?.contains("missing.txt") == true)
            let lenient = MultipartBody(parts, skipsUnreadableFiles: true)
            #expect(lenient.failedFiles == strict.failedFiles)
            #expect(lenient.parts.map(\.name) == ["a", "g"])
            let sent = String(decoding: try await streamed(lenient), as: UTF8.self)
            #expect(sent.contains("\r\n\r\nhello\r\n--\(lenient.boundary)--\r\n"))
            #expect(lenient.length == Int64(sent.utf8.count))
        }
    }

    @Test("a form is replayable if all its parts are")
    func replays() {
        let once = StreamBody(isReplayable: false) { HTTPBodyStream { nil } }
        #expect(!MultipartBody(.field("a", "b"), .body("c", once)).isReplayable)
        #expect(MultipartBody(.field("a", "b")).isReplayable)
    }
}
