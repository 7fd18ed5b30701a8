import Foundation
import Switchboard
import SwitchboardTesting
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

    @Test(.cassette("popular movies", recording: movies)) func aTestPlaysItsCassette() async throws {
        struct Page: Decodable { var page: Int }
        let router = Router<URLEndPoint>(session: try Cassette.current)
        let url = try #require(URL(string: "https://movies.example/3/popular?page=1"))
        #expect(try await router.request(URLEndPoint(.get, url), as: Page.self).page == 1)
        #expect(try Cassette.current.file == Self.folder.appendingPathComponent("popular movies.har"))
    }

    /// Checks that all cases use one cassette, which has an entry for each of them.
    @Test(.cassette("movies/popular, by page", recording: movies), arguments: 1...3)
    func theCasesOfATestShareOne(number: Int) async throws {
        let response = try await Cassette.current.send(Self.page(number))
        #expect(response.text.contains(#""page":\#(number)"#))
    }

    @Test func theCommittedArchiveHasNoToken() throws {
        let archive = try Archive(Self.folder.appendingPathComponent("movies/popular- by page.har"))
        #expect(archive.entries.count == 3)
        #expect(archive.text("request.headers.0.value") == "REDACTED")
        #expect(!archive.text.contains("not-a-real-token"))
    }

    @Suite(.cassette("movies/of a suite", recording: movies))
    struct OfASuite {
        @Test func theTestsOfASuiteShareOne() async throws {
            _ = try await Cassette.current.send(CassetteTraitTests.page(1))
        }
        @Test func theTestsOfASuiteShareOneIndeed() async throws {
            _ = try await Cassette.current.send(CassetteTraitTests.page(2))
        }
    }

    @Test func anEntryThatNobodyAskedForFailsWhereTheTraitStands() async throws {
        let test = try #require(Test.current)
        let (trait, line) = (CassetteTrait.cassette("popular movies", mode: .replay), #line)
        try await withKnownIssue {
            try await trait.provideScope(for: test, testCase: nil) {}
        } matching: { issue in
            issue.isAt(line)
                && issue.comments.map(\.rawValue) == [
                    "cassette popular movies.har: nobody asked for entry 1 of 1, "
                        + "GET https://movies.example/3/popular?page=1"
                ]
        }
    }

    @Test func anUnmatchedRequestFailsWhereTheTraitStandsWithTheDifference() async throws {
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
                      to record what is missing: SWITCHBOARD_CASSETTES=record swift test
                    """
                ]
        }
    }

    @Test func withoutItsFileTheTestDoesNotRunAndFails() async throws {
        let test = try #require(Test.current)
        let (trait, line) = (CassetteTrait.cassette("no such", mode: .strict), #line)
        try await withKnownIssue {
            try await trait.provideScope(for: test, testCase: nil) { Issue.record("it ran") }
        } matching: { issue in
            issue.isAt(line)
                && issue.comments.map(\.rawValue) == [
                    "there is no cassette \(Self.folder.path)/no such.har; "
                        + "record it with SWITCHBOARD_CASSETTES=record swift test"
                ]
        }
    }

    @Test func itRunsOncePerFunctionOrSuite() throws {
        let trait = CassetteTrait.cassette("any")
        let test = try #require(Test.current)
        #expect(trait.scopeProvider(for: test, testCase: nil) != nil)
        #expect(trait.scopeProvider(for: test, testCase: Test.Case.current) == nil)
        #expect(!trait.isRecursive)
    }

    @Test func whatTheTraitRecordsIsSaved() async throws {
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

    @Test(arguments: ["", "/", "..", "../..", "./", "a/../b", "../x"])
    func aNameThatIsNoneIsAnError(name: String) async throws {
        let error = await #expect(throws: NetworkError.self) { try await withCassette(name) { _ in } }
        #expect(error?.reason == "\"\(name)\" is no name for a cassette")
    }

    @Test func theFunctionFailsWhereItIsCalled() async throws {
        let line = #line + 2
        try await withKnownIssue {
            try await withCassette("popular movies", mode: .replay) { cassette in
                let current = try Cassette.current
                #expect(current === cassette)
            }
        } matching: {
            $0.isAt(line) && $0.comments.first?.rawValue.contains("nobody asked for entry 1 of 1") == true
        }
    }
}

extension Issue {
    fileprivate func isAt(_ line: Int) -> Bool {
        sourceLocation?.line == line && sourceLocation?.fileName == "CassetteTraitTests.swift"
    }
}

final class CassetteXCTests: XCTestCase {
    func testAnXCTestPlaysACassette() async throws {
        let text = try await withCassette("popular movies", mode: .replay) { cassette in
            try await cassette.send(NetworkRequest(text: "https://movies.example/3/popular?page=1")).text
        }
        XCTAssertTrue(text.contains(#""page":1"#))
    }
}
