import Foundation
import Switchboard
import SwitchboardMocks
import Testing

/// Provides a test or a suite with a ``/SwitchboardMocks/Cassette``; see `cassette(_:)` of `Trait`.
public struct CassetteTrait: TestTrait, SuiteTrait, TestScoping {
    let site: CallSite
    let make: @Sendable () throws(NetworkError) -> Cassette

    /// Returns the trait once for a test function, around all of its cases, and once for a suite, around all of its
    /// tests.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> CassetteTrait? {
        testCase == nil ? self : nil
    }

    /// Runs `function` with the cassette as ``/SwitchboardMocks/Cassette/current``, saves it, and fails the test at the
    /// trait for each of its faults. An unused entry is no fault of a suite, because a filter may leave out the test that
    /// uses it. When the cassette's file cannot be read, `function` does not run.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let cassette: Cassette
        do throws(NetworkError) {
            cassette = try make()
        } catch {
            return site.fail(error.reason ?? error.description)
        }
        let (result, faults) = try await cassette.play { _ in try await function() }
        for fault in test.isSuite ? cassette.mismatches : faults { site.fail(fault) }
        try result.get()
    }
}

extension Trait where Self == CassetteTrait {
    /// Records the exchanges of a test or a suite in an archive and plays them back. Use
    /// ``/SwitchboardMocks/Cassette/current`` as the session.
    ///
    /// ```swift
    /// @Test(.cassette("popular movies"))
    /// func thePageIsDecoded() async throws {
    ///     let router = Router<MovieApi>(session: try Cassette.current)
    ///     ...
    /// }
    /// ```
    ///
    /// The archive is `Cassettes/popular movies.har` next to the test's source file. The cassette plays it without the
    /// network, unless the environment variable `SWITCHBOARD_CASSETTES` is `record` or `rewrite`. Requests without an
    /// entry and unused entries fail the test at the trait, with the differences.
    ///
    /// A test function has one cassette for all of its cases. A suite has one for all of its tests, and an entry that none
    /// of them used is no fault, because a filter may leave out tests. Two tests that run at the same time should not
    /// record in one file. SwiftPM warns about files that are not resources: exclude the folder in the manifest.
    ///
    /// - Parameters:
    ///   - name: The name of the file without `.har`, with slashes for folders. Characters that a file's name should
    ///     not contain become `-`.
    ///   - mode: The use of the file. By default the environment variable `SWITCHBOARD_CASSETTES` decides.
    ///   - session: The session that sends real requests. Nil, the default, means the shared default session.
    ///   - matching: The rules that choose the entry for a request. Default `Cassette.Matching.standard`.
    ///   - redaction: The rules for secrets. Default `Redaction.standard`.
    ///   - repeats: Whether the last matching entry answers again when all matching entries are used up. Default false.
    ///   - folder: The folder of the file, relative to the test's source file unless it begins with a slash. Default
    ///     `Cassettes`.
    ///   - fileID: The source file, for failures.
    ///   - filePath: The source file, for failures and to find the folder.
    ///   - line: The line, for failures.
    ///   - column: The column, for failures.
    /// - Returns: The trait.
    public static func cassette(
        _ name: String, mode: Cassette.Mode = .fromEnvironment, recording session: (any NetworkSession)? = nil,
        matching: Cassette.Matching = .standard, redaction: Redaction = .standard, repeats: Bool = false,
        folder: String = "Cassettes", fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: UInt = #line, column: UInt = #column
    ) -> CassetteTrait {
        let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        return CassetteTrait(site: site) { () throws(NetworkError) in
            try Cassette(
                file: Cassette.file(name, folder: folder, nextTo: filePath), mode: mode,
                recording: session ?? DefaultSession.shared, matching: matching, redaction: redaction, repeats: repeats)
        }
    }
}

/// Runs a cassette while `body` runs, and fails the test at the line of the call for each of its faults. Use it with
/// XCTest, or for a part of a test.
///
/// ```swift
/// func testThePageIsDecoded() async throws {
///     try await withCassette("popular movies") { cassette in
///         let router = Router<MovieApi>(session: cassette)
///         ...
///     }
/// }
/// ```
///
/// The parameters and the file are those of the trait `.cassette(_:)`. The function returns the value that `body`
/// returns. It throws the error of `body`, or a `NetworkError` for a file that cannot be read or written.
public func withCassette<Output>(
    _ name: String, mode: Cassette.Mode = .fromEnvironment, recording session: (any NetworkSession)? = nil,
    matching: Cassette.Matching = .standard, redaction: Redaction = .standard, repeats: Bool = false,
    folder: String = "Cassettes", fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column, isolation: isolated (any Actor)? = #isolation,
    _ body: (Cassette) async throws -> Output
) async throws -> Output {
    let trait = CassetteTrait.cassette(
        name, mode: mode, recording: session, matching: matching, redaction: redaction, repeats: repeats,
        folder: folder, fileID: fileID, filePath: filePath, line: line, column: column)
    let (result, faults) = try await trait.make().play(isolation: isolation, body)
    for fault in faults { trait.site.fail(fault) }
    return try result.get()
}

extension Cassette {
    /// Returns `folder/name.har`, with the folder next to a source file.
    static func file(_ name: String, folder: String, nextTo source: StaticString) throws(NetworkError) -> URL {
        let segments = name.split(separator: "/").map(\.asFileName)
        guard !segments.isEmpty, segments.allSatisfy({ !$0.allSatisfy { $0 == "." } }) else {
            throw NetworkError(.cassetteFault, reason: "\"\(name)\" is no name for a cassette")
        }
        let base = URL(fileURLWithPath: "\(source)").deletingLastPathComponent()
        return URL(fileURLWithPath: folder, relativeTo: base).absoluteURL
            .appendingPathComponent(segments.joined(separator: "/") + ".har")
    }
}

extension Substring {
    /// The text with `-` for characters that a file's name should not contain.
    fileprivate var asFileName: String {
        let text = map { $0.isLetter || $0.isNumber || "-_. ".contains($0) ? String($0) : "-" }.joined()
        return text.trimmingCharacters(in: .whitespaces)
    }
}
