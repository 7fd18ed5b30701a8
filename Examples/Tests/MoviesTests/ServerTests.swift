import ExampleKit
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@testable import Movies

/// The program with servers that are absent, broken or hostile.
@Suite(.timeLimit(.minutes(10)))
struct ServerTests {
    @Test func aServerThatIsGoneIsUnavailable() async throws {
        let url = "http://127.0.0.1:1"  // where nothing listens
        let (exit, shown, noted) = await movies("--server \(url)")
        #expect(exit == .unavailable)
        #expect(shown == "")
        expectOneLine(noted)
    }

    @Test func aServerThatNeverAnswersIsUnavailable() async throws {
        try await MockServer.run { server in
            server.enqueue(.stall)
            let (exit, _, noted) = await movies(
                "--server \(server.url)", timeouts: Timeouts(idle: .milliseconds(200)))
            #expect(exit == .unavailable)
            #expect(noted.contains("timed out"))
            expectOneLine(noted)
        }
    }

    @Test func aServerThatRunsAlreadyIsAsked() async throws {
        try await EmbeddedServer.run(MovieServer.answer) { url in
            let there = await movies("--server \(url)/ --environment qa popular")
            let here = await movies("--environment qa popular")
            #expect(there.exit == .success)
            #expect(there.shown == here.shown)
        }
    }

    @Test(
        arguments: [
            (200, "", .badData),
            (200, "[]", .badData),
            (200, #"{"page": 1, "results": [{"id": "one"}], "total_pages": 1, "total_results": 1}"#, .badData),
            (500, "<html>\n<body>\nsorry\n</body>\n</html>", .refused),
            (503, #"{"status_code": 9, "status_message": "Closed:\r\n\u001b[2J try later"}"#, .refused),
            (418, #"{"status_code": 9, "status_message": "\#(String(repeating: "no ", count: 9999))"}"#, .refused),
            (400, #"{"status_code": 22, "status_message": "Never."}"#, .refused),
        ] as [(Int, String, ExitCode)])
    func aBadAnswerIsOneLine(status: Int, body: String, code: ExitCode) async throws {
        try await MockServer.run { _ in
            .json(Data(body.utf8), statusCode: status)
        } body: { server in
            let (exit, shown, noted) = await movies("--server \(server.url)")
            #expect(exit == code)
            #expect(shown == "")
            expectOneLine(noted)
        }
    }

    @Test func numbersOutOfBoundsDoNotTrap() async throws {
        let json = """
            {"page": 9223372036854775807, "total_pages": -9223372036854775808, "total_results": 9223372036854775807, "results": [
                {"id": -9223372036854775808, "title": "\\u001b[31m\\u202eA", "vote_average": 1e308}
            ]}
            """
        try await MockServer.run { _ in
            .json(Data(json.utf8))
        } body: { server in
            let (exit, shown, _) = await movies("--server \(server.url)")
            #expect(exit == .success)
            #expect(shown.split(separator: "\n").count == 3)
            #expect(!shown.contains("\u{1B}"))
        }
    }

    @Test func aWrongKeyGetsTheServersOwnWords() async throws {
        let exitAndReason = try await EmbeddedServer.run(MovieServer.answer) { url in
            let backend = MovieBackend(servers: MovieBackend.under(url).servers, images: "", key: "wrong-key")
            return await MovieBackend.$current.withValue(backend) { () async -> Failure? in
                let service = MovieService(router: NetworkManager(environment: .qa).router(for: MovieApi.self))
                do {
                    _ = try await service.videos(of: 3001)
                    return nil
                } catch {
                    return Failure(error)
                }
            }
        }
        #expect(exitAndReason == Failure(.refused, "Invalid API key: You must be granted a valid key."))
    }

    private func expectOneLine(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(text.hasPrefix("movies: ") && text.count < 500, sourceLocation: sourceLocation)
        #expect(!text.contains { $0.isNewline || $0 == "\u{1B}" }, sourceLocation: sourceLocation)
        #expect(!text.contains(MovieServer.key), sourceLocation: sourceLocation)
    }
}
