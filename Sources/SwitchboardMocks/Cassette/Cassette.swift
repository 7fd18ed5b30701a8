import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardHAR

/// A session that records real exchanges in a file, and plays them from there: a test then needs no network.
///
/// ```swift
/// @Test(.cassette("popular movies")) func thePageIsDecoded() async throws {
///     let router = Router<MovieApi>(session: try Cassette.current)
///     let page = try await router.request(.popular(page: 1), as: MoviePage.self)
///     #expect(page.results.count == 20)
/// }
/// ```
///
/// The file is an HTTP archive, [HAR 1.2](http://www.softwareishard.com/blog/har-12-spec/): a browser's developer tools
/// open it, and an archive that they exported can be played. Record it once with the environment variable
/// `SWITCHBOARD_CASSETTES=record`, look at it, and commit it.
///
/// Secrets are replaced before they are written: those whose name says it, as in logs, and each of them of six and more
/// characters wherever else it appears, decoded, escaped or in base64. A body that is compressed or encrypted as it is
/// sent is not looked into. What a live test gets is unchanged; what is played has masks. An error, such as a timeout, is passed on and not recorded.
public final class Cassette: NetworkSession {
    /// The archive.
    public let file: URL
    /// What it does with the file; ``Mode/fromEnvironment`` is looked up.
    public let mode: Mode
    let session: any NetworkSession
    let matching: Matching
    let redactor: HARRedactor
    let repeats: Bool
    /// What was in the file.
    let entries: [CassetteEntry]
    let tape: Protected<CassetteTape>

    /// Reads a cassette. Nothing is written before ``save()``.
    ///
    /// - Parameters:
    ///   - file: The archive, usually named `.har`. It need not be there when something is to be recorded.
    ///   - mode: What to do with it.
    ///   - session: What real exchanges go through. Unused unless something is recorded.
    ///   - matching: Which entry answers which request.
    ///   - redaction: What is a secret. Its mask is used where it can stand in a URL; else, as by default, `REDACTED`.
    ///   - repeats: Whether an entry answers again when those that match are used up. Not in ``Mode/strict``.
    /// - Throws: `NetworkError.cassetteFault` when there is nothing to play, or the file is damaged;
    ///   the reason has the place.
    public init(
        file: URL, mode: Mode = .fromEnvironment, recording session: any NetworkSession = DefaultSession.shared,
        matching: Matching = .standard, redaction: Redaction = .standard, repeats: Bool = false
    ) throws(NetworkError) {
        self.file = file
        self.mode = try mode.resolved()
        self.session = session
        self.matching = matching
        self.repeats = repeats
        redactor = HARRedactor(redaction)
        let entries = self.mode == .rewrite ? [] : try HARFile.read(file)
        guard entries != nil || self.mode.records else {
            throw NetworkError(
                .cassetteFault,
                reason: "there is no cassette \(file.path); record it with SWITCHBOARD_CASSETTES=record swift test")
        }
        self.entries = (entries ?? []).map { [redactor] in CassetteEntry($0, redactor) }
        tape = Protected(CassetteTape(entryCount: self.entries.count))
    }

    /// Answers a request from the file, or sends it and records the answer; see ``mode-swift.property``.
    ///
    /// - Throws: `NetworkError.unmatchedRequest` with the nearest entries when none answers; what
    ///   the recording session throws; `NetworkError` for a request that may not be sent and for a response beyond its
    ///   limits; `CancellationError`.
    public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        try Task.checkCancellation()
        try request.validate()
        var sent = request
        // It is read once, and may not be readable again.
        if let body = try await request.readBody() {
            sent.body = DataBody(body, additionalHeaders: request.body.additionalHeaders)
        }
        guard let entry = try entry(for: sent) else {
            var response = try await record(sent)
            response.request?.body = request.body
            return response
        }
        return try await CassettePlayback(request: request, entry: entry.entry).run()
    }
}
