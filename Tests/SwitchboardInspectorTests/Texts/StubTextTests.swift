import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@testable import SwitchboardInspector

/// The code that the page copies. This file contains it, so that the compiler checks it, and reads itself.
@Suite(.timeLimit(.minutes(10)))
struct StubTextTests {
    /// Returns the lines of this file between two comments, without their indentation.
    private func lines(of name: String) throws -> [String] {
        let file = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
        let parts = file.components(separatedBy: "// \(name)\n")
        try #require(parts.count == 3)
        return parts[1].components(separatedBy: "\n").dropLast().map {
            $0.replacingOccurrences(of: "        ", with: "")
        }
    }

    @Test("a literal has the value of its text")
    func literals() throws {
        // swift-format-ignore
        let values = [
        // literals
        "",
        "plain",
        #"{"a": "b"}"#,
        #"a \(b) \n"#,
        ##"ends "# here"##,
        "\"\"",
        "\"\"\"##\" \u{1b}[31m",
        "line\r\nline",
        "\u{202e}gpj.exe",
        "ü🎬",
        "\u{0}",
        "a\u{2028}b",
        #"\"#,
        // literals
        ]
        #expect(values.map { StubText.literal($0) + "," } == (try lines(of: "literals")))
        #expect(StubText.literal("{\n  \"a\": 1\n}") == "#\"\"\"\n{\n  \"a\": 1\n}\n\"\"\"#")
        #expect(StubText.literal("a\nb") == "\"\"\"\na\nb\n\"\"\"")
        #expect(StubText.literal("\n") == "\"\\n\"")
    }

    @Test("a combining character hides no end of a literal")
    func combining() {
        func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
        #expect(bytes(StubText.literal("\"#\u{301}")) == bytes("##\"\"#\u{301}\"##"))
        #expect(bytes(StubText.literal("\\#\u{301}")) == bytes("##\"\\#\u{301}\"##"))
        #expect(bytes(StubText.literal("\"\"\u{301}")) == bytes("\"\\\"\\\"\u{301}\""))
    }

    @Test("a literal of a million number signs has a million and one around it")
    func manyMarks() {
        let marks = String(repeating: "#", count: 1_000_000)
        #expect(StubText.literal("\"" + marks).utf8.elementsEqual((marks + "#\"\"" + marks + "\"#" + marks).utf8))
    }

    @Test("the stubs of a call compile, and give a later call the same responses")
    func stubs() async throws {
        let inspector = try NetworkInspector(CallLimits())
        let first = StubSession(
            .status(503, headers: ["Retry-After": "0", "X-Other": "dropped"]),
            .redirect(to: "/films/b?token=secret-token-1&page=2", statusCode: 307),
            .failure(.connectionLost), .json(#"{"title":"\"A\""}"#, headers: ["ETag": "\"1\""]))
        let retry = RetryPolicy(clock: TestClock(skips: true))
        let url = URL(text: "https://user:secret-pass-1@api.example.com/films/a?api_key=secret-key-1&page=1#top")
        _ = try await Router<URLEndPoint>(session: first, interceptors: [retry], monitors: [inspector]).data(from: url)
        let text = try #require(try Page(inspector).detail(1).text("stub"))

        let session = StubSession()
        // swift-format-ignore
        do {
        // stubs
        session.stub(
            .get("https://api.example.com/films/a?page=1"), with:
            .status(503, headers: ["Retry-After": "0"]),
            .status(307, headers: ["Location": "/films/b?page=2"]),
            .json(#"{"title":"\"A\""}"#, headers: ["ETag": #""1""#]))
        session.stub(
            .get("https://api.example.com/films/b?page=2"), with:
            .failure(.connectionLost))
        // stubs
        }
        #expect(text.components(separatedBy: "\n") == (try lines(of: "stubs")))
        let data = try await Router<URLEndPoint>(session: session, interceptors: [retry])
            .data(from: URL(text: "https://api.example.com/films/a?page=1"))
        #expect(String(decoding: data, as: UTF8.self) == #"{"title":"\"A\""}"#)
        #expect(session.faults.isEmpty)
    }
}
