import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing
import XCTest

struct CassetteTraitTests {
    /// The source of the committed archives. `SWITCHBOARD_CASSETTES=rewrite` records them again.
    static let movies = StubSession { request in
        .json(#"{"page":\#(request.query?.suffix(1) ?? "0"),"token":"\#(request.headers["Authorization"] ?? "")"}"#)
    }
    private static func page(_ number: Int) -> NetworkRequest {
        NetworkRequest(
            text: "https://movies.example/3/popular?page=\(number)",
            headers: ["Authorization": "Bearer not-a-real-token"])
    }
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Cassettes")

    @Test("a test with the trait plays its cassette", .cassette("popular movies", recording: movies))
    func testTrait() async throws {
        struct Page: Decodable { var page: Int }
        let router = Router<URLEndPoint>(session: try Cassette.current)
        let url = try #require(URL(string: "https://movies.example/3/popular?page=1"))
        #expect(try await router.request(URLEndPoint(.get, url), as: Page.self).page == 1)
        #expect(try Cassette.current.file == Self.folder.appendingPathComponent("popular movies.har"))
    }

    /// Checks that all cases use one cassette, which has an entry for each of them.
    @Test(
        "the cases of a test share one cassette", .cassette("movies/popular, by page", recording: movies),
        arguments: 1...3)
    func casesShareOne(number: Int) async throws {
        let response = try await Cassette.current.send(Self.page(number))
        #expect(response.text.contains(#""page":\#(number)"#))
    }

    @Test("the committed archive has no token")
    func committedArchive() throws {
        let archive = try Archive(Self.folder.appendingPathComponent("movies/popular- by page.har"))
        #expect(archive.entries.count == 3)
        #expect(archive.text("request.headers.0.value") == "REDACTED")
        #expect(!archive.text.contains("not-a-real-token"))
    }

    @Suite(.cassette("movies/of a suite", recording: movies))
    struct OfASuite {
        @Test("the tests of a suite share one cassette")
        func suiteSharesOne() async throws {
            _ = try await Cassette.current.send(CassetteTraitTests.page(1))
        }
        @Test("a second test of the suite has the same cassette")
        func suiteSharesOneAgain() async throws {
            _ = try await Cassette.current.send(CassetteTraitTests.page(2))
        }
    }

    @Test("an unused entry fails at the trait")
    func unusedEntry() async throws {
        let test = try #require(Test.current)
        let (trait, line) = (CassetteTrait.cassette("popular movies", mode: .replay), #line)
        try await withKnownIssue {
            try await trait.provideScope(for: test, testCase: nil) {}
        } matching: { issue in
            issue.isAt(line)
                && issue.comments.map(\.rawValue) == [
                    "cassette popular movies.har: nobody requested entry 1 of 1, "
                        + "GET https://movies.example/3/popular?page=1"
                ]
        }
    }

    @Test("an unmatched request fails at the trait with the difference")
    func unmatchedRequest() async throws {
        let test = try #require(Test.current)
        let (trait, line) = (CassetteTrait.cassette("popular movies", mode: .replay), #line)
        try await withKnownIssue {
            try await trait.provideScope(for: test, testCase: nil) {
                _ = try await Cassette.current.send(Self.page(1))
                let error = await #expect(throws: NetworkError.self) { try await Cassette.current.send(Self.page(9)) }
                #expect(error?.code == .unmatchedRequest)
            }
        } matching: { issue in
            issue.isAt(line)
                && issue.comments.map(\.rawValue) == [
                    """
                    cassette popular movies.har: no entry answers GET https://movies.example/3/popular?page=9
                      entry 1, GET https://movies.example/3/popular?page=1:
                        query page: "9", recorded "1"
                      to record what is missing: the mode .recordMissing
                    """
                ]
        }
    }

    @Test("without its file, the test fails and does not run")
    func missingFile() async throws {
        let test = try #require(Test.current)
        let (trait, line) = (CassetteTrait.cassette("no such", mode: .strict), #line)
        try await withKnownIssue {
            try await trait.provideScope(for: test, testCase: nil) { Issue.record("it ran") }
        } matching: { issue in
            issue.isAt(line)
                && issue.comments.map(\.rawValue) == [
                    "there is no cassette \(Self.folder.path)/no such.har; record it with the mode .recordMissing"
                ]
        }
    }

    @Test("the trait provides one scope per function or suite")
    func scopes() throws {
        let trait = CassetteTrait.cassette("any")
        let test = try #require(Test.current)
        #expect(trait.scopeProvider(for: test, testCase: nil) != nil)
        #expect(trait.scopeProvider(for: test, testCase: Test.Case.current) == nil)
        #expect(!trait.isRecursive)
    }

    @Test("the recording of a trait is saved")
    func saving() async throws {
        try await withFile { file in
            let test = try #require(Test.current)
            let trait = CassetteTrait.cassette(
                "a/b: c?", mode: .rewrite, recording: Self.movies,
                folder: file.deletingLastPathComponent().path)
            try await trait.provideScope(for: test, testCase: nil) {
                _ = try await Cassette.current.send(Self.page(1))
            }
            let saved = file.deletingLastPathComponent().appendingPathComponent("a/b- c-.har")
            #expect(try Archive(saved).urls == ["https://movies.example/3/popular?page=1"])
        }
    }

    @Test("an invalid name is an error", arguments: ["", "/", "..", "../..", "./", "a/../b", "../x"])
    func invalidName(name: String) async throws {
        let error = await #expect(throws: NetworkError.self) { try await withCassette(name) { _ in } }
        #expect(error?.reason == "\"\(name)\" is no name for a cassette")
    }

    @Test("withCassette fails at the line of its call")
    func failureLocation() async throws {
        let line = #line + 2
        try await withKnownIssue {
            try await withCassette("popular movies", mode: .replay) { cassette in
                let current = try Cassette.current
                #expect(current === cassette)
            }
        } matching: {
            $0.isAt(line) && $0.comments.first?.rawValue.contains("nobody requested entry 1 of 1") == true
        }
    }

    @Test("a difference that the code hides is reported if the test throws")
    func differenceBeforeAnError() async throws {
        struct NoMovies: Error {}
        let line = #line + 2  // of the macro
        await withKnownIssue {
            await #expect(throws: NoMovies.self) {
                try await withCassette("popular movies", mode: .replay) { cassette in
                    _ = try? await cassette.send(Self.page(9))
                    throw NoMovies()
                }
            }
        } matching: {
            $0.isAt(line) && $0.comments.first?.rawValue.contains("query page: \"9\", recorded \"1\"") == true
        }
    }

    @Test("a difference that the test throws is not reported again")
    func thrownDifference() async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await withCassette("popular movies", mode: .replay) { try await $0.send(Self.page(9)) }
        }
        #expect(error?.code == .unmatchedRequest)
    }
}

extension Issue {
    fileprivate func isAt(_ line: Int) -> Bool {
        sourceLocation?.line == line && sourceLocation?.fileName == "CassetteTraitTests.swift"
    }
}

final class CassetteXCTests: XCTestCase {
    func testCassette() async throws {
        let text = try await withCassette("popular movies", mode: .replay) { cassette in
            try await cassette.send(NetworkRequest(text: "https://movies.example/3/popular?page=1")).text
        }
        XCTAssertTrue(text.contains(#""page":1"#))
    }
}
