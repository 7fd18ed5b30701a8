import Foundation
import Switchboard
import SwitchboardMocks

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
    let cassette = try Cassette(
        file: Cassette.file(name, folder: folder, beside: filePath), mode: mode,
        recording: session ?? DefaultSession.shared, matching: matching, redaction: redaction, repeats: repeats)
    return try await cassette.play(failingAt: CallSite(fileID, filePath, line, column), isolation: isolation, body)
}

extension Cassette {
    func play<Output>(
        failingAt site: CallSite, isolation: isolated (any Actor)? = #isolation,
        _ body: (Cassette) async throws -> Output
    ) async throws -> Output {
        let (output, faults) = try await play(isolation: isolation, body)
        for fault in faults { site.fail(fault) }
        return output
    }

    /// Returns `folder/name.har`, with the folder beside a source file.
    static func file(_ name: String, folder: String, beside source: StaticString) throws(NetworkError) -> URL {
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
