import Foundation
import Switchboard

extension Cassette {
    @TaskLocal static var installed: Cassette?

    /// The cassette of the running test, from its trait `.cassette("name")` or from
    /// ``run(file:mode:recording:matching:redaction:repeats:isolation:_:)``. A detached task has no current cassette.
    ///
    /// - Throws: `NetworkError.cassetteFault` when no cassette runs.
    public static var current: Cassette {
        get throws(NetworkError) {
            if let installed { return installed }
            throw NetworkError(
                .cassetteFault,
                reason: "no cassette is running: the test needs the trait .cassette(\"name\") or Cassette.run, "
                    + "and a detached task has to be handed the one that its test got")
        }
    }

    /// Runs a cassette as ``current`` while `body` runs, saves it, and returns the value that `body` returns.
    ///
    /// ```swift
    /// try await Cassette.run(file: file) { cassette in
    ///     let router = Router<MovieApi>(session: cassette)
    /// }
    /// ```
    ///
    /// The parameters are those of ``init(file:mode:recording:matching:redaction:repeats:)``. Recorded exchanges are
    /// saved even if `body` throws.
    ///
    /// Throws the error of `body`, a `NetworkError` for a file that cannot be read or written, or
    /// `NetworkError.cassetteFault` with the ``faults``, if any.
    public static func run<Output>(
        file: URL, mode: Mode = .fromEnvironment, recording session: any NetworkSession = DefaultSession.shared,
        matching: Matching = .standard, redaction: Redaction = .standard, repeats: Bool = false,
        isolation: isolated (any Actor)? = #isolation, _ body: (Cassette) async throws -> Output
    ) async throws -> Output {
        let cassette = try Cassette(
            file: file, mode: mode, recording: session, matching: matching, redaction: redaction, repeats: repeats)
        let (output, faults) = try await cassette.play(isolation: isolation, body)
        guard faults.isEmpty else {
            throw NetworkError(.cassetteFault, reason: faults.joined(separator: "\n"))
        }
        return output
    }

    /// Runs `body` with this cassette as ``current``, saves it, and returns the ``faults`` too.
    package func play<Output>(
        isolation: isolated (any Actor)? = #isolation, _ body: (Cassette) async throws -> Output
    ) async throws -> (output: Output, faults: [String]) {
        let output: Output
        do {
            output = try await Self.$installed.withValue(
                self, operation: { try await body(self) }, isolation: isolation)
        } catch {
            // The test's error matters more than one about the file.
            try? save()
            throw error
        }
        try save()
        return (output, faults)
    }
}
