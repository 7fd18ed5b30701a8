import Foundation
import Switchboard
import SwitchboardMocks
import Testing

/// Gives a test or a suite a ``/SwitchboardMocks/Cassette``: see `cassette(_:)` of `Trait`.
public struct CassetteTrait: TestTrait, SuiteTrait, TestScoping {
    let site: CallSite
    let make: @Sendable () throws(NetworkError) -> Cassette

    /// Once for a test function, around all of its cases, and once for a suite, around all of its tests.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> CassetteTrait? {
        testCase == nil ? self : nil
    }

    /// Runs what `function` runs with the cassette as ``/SwitchboardMocks/Cassette/current``, saves it, and fails where
    /// the trait stands for each of its faults. Without its file `function` does not run.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let cassette: Cassette
        do throws(NetworkError) {
            cassette = try make()
        } catch {
            return site.fail(error.reason ?? error.description)
        }
        try await cassette.play(failingAt: site) { _ in try await function() }
    }
}

extension Trait where Self == CassetteTrait {
    /// Records the exchanges of a test or a suite in an archive, and plays them from there:
    /// ``/SwitchboardMocks/Cassette/current`` is the session to use.
    ///
    /// ```swift
    /// @Test(.cassette("popular movies")) func thePageIsDecoded() async throws {
    ///     let router = Router<MovieApi>(session: try Cassette.current)
    ///     ...
    /// }
    /// ```
    ///
    /// The archive is `Cassettes/popular movies.har` beside the test's source file. It is played, and no network used,
    /// unless the environment variable `SWITCHBOARD_CASSETTES` is `record` or `rewrite`. Requests that no entry answers
    /// and entries that nobody asked for fail the test, where the trait stands, with what differs.
    ///
    /// A test function has one cassette for all of its cases, and a suite one for all of its tests: run a
    /// part of them, and the entries of the others are faults. Two tests that run at the same time should not record in
    /// one file. SwiftPM warns about files that it does not know: exclude the folder in the manifest.
    ///
    /// - Parameters:
    ///   - name: The name of the file without `.har`, slashes for folders. What should not stand in a file's name
    ///     becomes `-`.
    ///   - mode: What to do with the file.
    ///   - session: What real exchanges go through; the shared default session when nil.
    ///   - matching: Which entry answers which request.
    ///   - redaction: What is a secret.
    ///   - repeats: Whether an entry answers again when those that match are used up.
    ///   - folder: Where the file is: beside the test's source file unless it begins with a slash.
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
        CassetteTrait(site: CallSite(fileID, filePath, line, column)) { () throws(NetworkError) in
            try Cassette(
                file: Cassette.file(name, folder: folder, beside: filePath), mode: mode,
                recording: session ?? DefaultSession.shared, matching: matching, redaction: redaction, repeats: repeats)
        }
    }
}
