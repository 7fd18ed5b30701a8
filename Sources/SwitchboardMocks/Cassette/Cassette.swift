import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardHAR
import SwitchboardText

/// A session that records real exchanges in a file and plays them back, so that a test needs no network.
///
/// ```swift
/// import SwitchboardTesting
///
/// @Test(.cassette("popular movies"))
/// func thePageIsDecoded() async throws {
///     let router = Router<MovieApi>(session: try Cassette.current)
///     let page = try await router.request(
///         .popular(page: 1), as: MoviePage.self)
///     #expect(page.results.count == 20)
/// }
/// ```
///
/// The file is an HTTP archive, [HAR 1.2](http://www.softwareishard.com/blog/har-12-spec/). A browser's developer tools
/// open it, and a cassette plays the archives that they export. Record it once with the environment variable
/// `SWITCHBOARD_CASSETTES=record`, review it, and commit it.
///
/// Secrets are replaced before they are written: the values of fields and parameters with secret names, as in logs.
/// Each such value of at least 6 bytes is also replaced wherever else it appears, decoded, escaped or in base64.
/// Bodies that are compressed or encrypted when sent are not searched. A live test receives unchanged responses; a
/// played response contains the masks. An error, such as a timeout, is thrown and not recorded.
public final class Cassette: NetworkSession {
    /// The archive.
    public let file: URL
    /// The use of the file, with ``Mode/fromEnvironment`` resolved.
    public let mode: Mode
    /// The advice of a message about a missing file or entry.
    let howToRecord: String
    let session: any NetworkSession
    let matching: Matching
    let masking: ExchangeMasking
    let repeats: Bool
    /// The entries read from the file, with their requests prepared for comparison.
    let entries: [(entry: HAR.Entry, request: ComparedRequest)]
    /// The indices of the entries by ``Matching/key(of:)``.
    let indicesByKey: [[String?]: [Int]]
    /// The indices of the entries that a request may match by a mask.
    let maskedIndices: [Int]
    let tape: Protected<CassetteTape>
    let contracts = MockContracts()

    /// Reads a cassette. Only ``save()`` writes the file.
    ///
    /// - Parameters:
    ///   - file: The archive, usually named `.har`. It may be missing in the modes that record.
    ///   - mode: The use of the file. Default ``Mode/fromEnvironment``.
    ///   - session: The session that sends real requests. Used only for recording. Default the shared one.
    ///   - matching: The rules that choose the entry for a request. Default ``Matching/standard``.
    ///   - redaction: The rules for secrets. Its mask must be valid in a URL; any other mask, that of the default
    ///     `Redaction.standard` included, becomes `REDACTED`.
    ///   - repeats: Whether the last matching entry answers again when all matching entries are used up. Default false.
    ///     Ignored in ``Mode/strict``.
    /// - Throws: `NetworkError.Code.cassetteFault` when a mode that only plays finds no file, when the file is damaged,
    ///   or when `SWITCHBOARD_CASSETTES` names no mode. The reason names the location of the damage.
    public init(
        file: URL, mode: Mode = .fromEnvironment, recording session: any NetworkSession = DefaultSession.shared,
        matching: Matching = .standard, redaction: Redaction = .standard, repeats: Bool = false
    ) throws(NetworkError) {
        self.file = file
        self.mode = try mode.resolved()
        howToRecord = mode.howToRecord
        self.session = session
        self.matching = matching
        self.repeats = repeats
        masking = ExchangeMasking(redaction)
        let entries = self.mode == .rewrite ? [] : try Self.read(file)
        guard entries != nil || self.mode.records else {
            throw NetworkError(
                .cassetteFault, reason: "there is no cassette \(file.path); record it with \(mode.howToRecord)")
        }
        let compared = (entries ?? []).map { [masking] entry in
            var masking = masking
            return (entry: entry, request: ComparedRequest(masking.masked(entry.request)))
        }
        self.entries = compared
        indicesByKey = Dictionary(grouping: compared.indices) { matching.key(of: compared[$0].request) }
        let redaction = masking.redaction
        let mask = redaction.mask
        maskedIndices = compared.indices.filter { index in
            let request = compared[index].request
            return matching.key(of: request).contains { $0?.contains(mask) ?? false }
                || request.body.firstRange(ofBytes: Data(mask.utf8)) != nil
        }
        tape = Protected(CassetteTape(entryCount: compared.count, redaction))
    }

    /// Answers a request from the file, or sends it and records the answer; see ``mode-swift.property``.
    ///
    /// - Throws: `NetworkError.unmatchedRequest` with the nearest entries when none answers, the errors of the
    ///   recording session, `NetworkError` for a request that may not be sent and for a response beyond its limits, or
    ///   `CancellationError`.
    public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        try Task.checkCancellation()
        try request.validate()
        let sent = try await request.replacingBody(with: request.readBody())
        guard let entry = try entry(for: sent) else {
            var response = try await record(sent)
            response.request?.body = request.body
            return response
        }
        try check(entry, for: sent)
        return try await play(entry, for: request)
    }

    private static func read(_ file: URL) throws(NetworkError) -> [HAR.Entry]? {
        do throws(NetworkError) {
            return try HAR.read(file, "the cassette \(file.path)", or: .cassetteFault)
        } catch {
            let code = (error.underlying as? CocoaError)?.code
            guard code == .fileReadNoSuchFile || code == .fileNoSuchFile else { throw error }
            return nil
        }
    }
}

extension Cassette {
    /// The use that a cassette makes of its file.
    public enum Mode: Sendable, Hashable {
        /// Plays recorded responses and never uses the network. A request without an entry is an error. Each entry
        /// answers once, and an unused entry is a fault.
        case replay
        /// Plays recorded responses and records missing ones. Unused entries stay in the file and are no fault.
        case recordMissing
        /// Records everything anew and replaces the old entries. A run that records nothing leaves the file unchanged.
        case rewrite
        /// Plays like ``replay``, and requires requests in the order of the recording.
        case strict
        /// ``replay``, or the mode in the environment variable `SWITCHBOARD_CASSETTES`: `replay`, `record` for
        /// ``recordMissing``, `rewrite` or `strict`.
        case fromEnvironment

        /// Returns the mode with ``fromEnvironment`` resolved.
        ///
        /// - Throws: `NetworkError.Code.cassetteFault` when the variable has another value.
        package func resolved(
            in environment: [String: String] = ProcessInfo.processInfo.environment
        ) throws(NetworkError) -> Mode {
            guard self == .fromEnvironment else { return self }
            switch environment["SWITCHBOARD_CASSETTES"] {
            case nil, "", "replay": return .replay
            case "record": return .recordMissing
            case "rewrite": return .rewrite
            case "strict": return .strict
            case let value?:
                throw NetworkError(
                    .cassetteFault,
                    reason:
                        "SWITCHBOARD_CASSETTES is \(value.quotedForMessage); it is replay, record, rewrite or strict")
            }
        }

        var records: Bool { self == .recordMissing || self == .rewrite }

        /// The variable, which has no effect on other modes, or the mode that records.
        package var howToRecord: String {
            self == .fromEnvironment ? "SWITCHBOARD_CASSETTES=record swift test" : "the mode .recordMissing"
        }
    }
}

extension Cassette {
    @TaskLocal static var installed: Cassette?

    /// The cassette of the running test, from its trait `.cassette("name")` or from
    /// ``run(isolation:_:)``. A detached task has no current cassette.
    ///
    /// - Throws: `NetworkError.Code.cassetteFault` when no cassette runs.
    public static var current: Cassette {
        get throws(NetworkError) {
            if let installed { return installed }
            throw NetworkError(
                .cassetteFault,
                reason: "no cassette is running: the test needs the trait .cassette(\"name\") or cassette.run, "
                    + "and a detached task has to be handed the one that its test got")
        }
    }

    /// Runs `body` with this cassette as ``current``, saves it, and returns the value that `body` returns.
    ///
    /// ```swift
    /// try await Cassette(file: file).run { cassette in
    ///     let router = Router<MovieApi>(session: cassette)
    /// }
    /// ```
    ///
    /// Recorded exchanges are saved even if `body` throws. Throws the error of `body`, a `NetworkError` for a file that
    /// cannot be written, or `NetworkError.Code.cassetteFault` with the ``faults``, if any.
    public func run<Output>(
        isolation: isolated (any Actor)? = #isolation, _ body: (Cassette) async throws -> Output
    ) async throws -> Output {
        let (result, faults) = try await play(isolation: isolation, body)
        let output = try result.get()
        guard faults.isEmpty else {
            throw NetworkError(.cassetteFault, reason: faults.joined(separator: "\n"))
        }
        return output
    }

    /// Runs `body` with this cassette as ``current``, saves it, and returns the ``faults`` too. If `body` throws, they are
    /// only the differences that its error does not contain: unused entries are expected then.
    package func play<Output>(
        isolation: isolated (any Actor)? = #isolation, _ body: (Cassette) async throws -> Output
    ) async throws -> (result: Result<Output, any Error>, faults: [String]) {
        let output: Output
        do {
            output = try await Self.$installed.withValue(
                self, operation: { try await body(self) }, isolation: isolation)
        } catch {
            // Throws the test's error, not one about the file.
            try? save()
            let text = "\(error)"
            return (.failure(error), differences.filter { !text.contains($0) })
        }
        try save()
        return (.success(output), faults)
    }
}

extension NetworkError.Code {
    /// A cassette cannot be used, or was not played as recorded. Its file is missing or damaged, no request used
    /// an entry, or no cassette is current for ``Cassette/current``. The reason says which.
    public static let cassetteFault = NetworkError.Code(rawValue: "cassetteFault")
}

extension NetworkError {
    /// ``Code/cassetteFault``
    public static var cassetteFault: Code { .cassetteFault }
}
