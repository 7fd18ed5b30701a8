import Foundation
import Switchboard
@testable import SwitchboardCache
import SwitchboardPlatform
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// A client that asks for random ranges, and a server whose answers are often wrong in ways that can be noticed.
@Suite(.timeLimit(.minutes(10)))
struct CacheRangeRandomTests {
    @Test(
        "2,000 random ranges and GETs: every stored answer has the true bytes",
        arguments: [(1, false), (2, false), (3, true)])
    func run(seed: UInt64, isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let server = Protected(FaultyRangeServer(seed: seed))
            let fixture = try CacheFixture(StubSession { request in server.withLock { $0.answer(to: request) } }) {
                now in
                isOnDisk ? try ResponseCache(folder: folder, memoryLimit: 4_000, now: now) : ResponseCache(now: now)
            }
            var random = SeededGenerator(seed: seed &+ 100)
            var counts: [String: Int] = [:]
            for step in 0..<(isOnDisk ? 500 : 2_000) {
                if random.oneIn(40) { server.withLock { $0.version += 1 } }
                if random.oneIn(3) { fixture.date.advance(by: .random(in: 0...20, using: &random)) }
                let range = random.oneIn(3) ? nil : random.range(upTo: FaultyRangeServer.size + 5)
                var headers = HTTPHeaders()
                headers["Range"] = range
                if range != nil, random.oneIn(8) { headers["If-Range"] = server.withLock { $0.tag } }
                do {
                    let response = try await fixture.answer(headers)
                    let outcome = try #require(response.cacheOutcome)
                    counts["\(range == nil ? "get" : "range") \(outcome)", default: 0] += 1
                    let fault = fault(of: response, outcome, requested: range)
                    #expect(fault == nil, "step \(step), seed \(seed), \(range ?? "GET"), \(outcome): \(fault ?? "")")
                    if fault != nil { return }
                } catch let error as NetworkError {
                    #expect(error.code == .truncatedBody, "step \(step), seed \(seed)")
                    counts["cut", default: 0] += 1
                }
            }
            // Each way to answer was taken.
            for way in [
                "range hit", "get hit", "get validated(\(ResponseCache.Outcome.Reason.incomplete))",
                "range validated(\(ResponseCache.Outcome.Reason.expired))",
                "range miss(\(ResponseCache.Outcome.Reason.incomplete))",
                "get miss(\(ResponseCache.Outcome.Reason.incomplete))", "cut",
            ] {
                #expect(
                    counts.contains {
                        $0.key.replacing("SwitchboardCache.ResponseCache.Outcome.Reason.", with: "") == way
                    },
                    "\(way) in \(counts)")
            }
        }
    }

    /// Returns the reason why an answer is wrong. A faulty answer that the server gave to the client's own range is passed on.
    private func fault(of response: NetworkResponse, _ outcome: ResponseCache.Outcome, requested: String?) -> String? {
        if case .miss = outcome, requested != nil { return nil }
        let tag = response.headers["ETag"] ?? ""
        if response.statusCode == 416 {
            guard let requested, let range = CacheRange(requested) else { return "416 without a range" }
            return range.bytes(of: FaultyRangeServer.size) == nil ? nil : "416 for \(requested)"
        }
        guard let version = Int(tag.dropFirst(2).dropLast()) else { return "status \(response.statusCode), tag \(tag)" }
        let content = FaultyRangeServer.content(version)
        guard response.statusCode == 206 else {
            if requested != nil { return "200 from the cache for a range" }
            return response.statusCode == 200 && response.body == content
                ? nil : "another whole, \(response.body.count) bytes"
        }
        guard let requested, let field = response.headers["Content-Range"], let bytes = ContentRange(field)?.bytes,
            let wanted = CacheRange(requested)?.bytes(of: content.count)
        else { return "an unexpected 206" }
        guard Int(bytes.lowerBound)..<(Int(bytes.upperBound) + 1) == wanted else {
            return "\(field) instead of \(wanted)"
        }
        return response.body == content.subdata(in: wanted) ? nil : "other bytes for \(field)"
    }
}

extension SeededGenerator {
    /// Creates a `Range` field with one range.
    fileprivate mutating func range(upTo size: Int) -> String {
        let first = Int.random(in: 0..<size, using: &self)
        return switch Int.random(in: 0..<5, using: &self) {
        case 0: "bytes=\(first)-"
        case 1: "bytes=-\(Int.random(in: 0...size, using: &self))"
        default: "bytes=\(first)-\(min(size + 3, first + Int.random(in: 0...60, using: &self)))"
        }
    }
}

/// Answers ranges of a known body, which has another content in each version. A third of its partial answers are wrong.
private struct FaultyRangeServer {
    static let size = 200
    var version = 1
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    var tag: String { "\"v\(version)\"" }

    static func content(_ version: Int) -> Data { RangeServer.content(size, seed: UInt32(version) * 1_000) }

    mutating func answer(to request: NetworkRequest) -> MockResponse {
        if request.headers["If-None-Match"] == tag {
            return .status(304, headers: ["ETag": tag, "Cache-Control": "max-age=30"])
        }
        let condition = request.headers["If-Range"]
        guard let range = request.headers["Range"].flatMap(CacheRange.init(_:)), condition.map({ $0 == tag }) ?? true
        else {
            // A completion that the server should answer with a 200 may get a part of the new version.
            if condition != nil, random.oneIn(4) { return part(150..<Self.size) }
            return whole
        }
        guard let bytes = range.bytes(of: Self.size) else {
            return .status(416, headers: ["Content-Range": "bytes */\(Self.size)", "Cache-Control": "max-age=30"])
        }
        return random.oneIn(3) ? faulty(bytes) : part(bytes, isSizeKnown: !random.oneIn(10))
    }

    private var whole: MockResponse {
        mutating get {
            let response = MockResponse.data(Self.content(version), headers: fields)
                .with("Content-Length", "\(Self.size)")
            return random.oneIn(4) ? response.truncated(after: .random(in: 0..<Self.size, using: &random)) : response
        }
    }

    private var fields: HTTPHeaders { ["ETag": tag, "Cache-Control": "max-age=30"] }

    private func part(_ bytes: Range<Int>, isSizeKnown: Bool = true) -> MockResponse {
        .data(Self.content(version).subdata(in: bytes), statusCode: 206, headers: fields)
            .with("Content-Range", text(bytes, isSizeKnown ? "\(Self.size)" : "*"))
    }

    private func text(_ bytes: Range<Int>, _ size: String) -> String {
        "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(size)"
    }

    private mutating func faulty(_ bytes: Range<Int>) -> MockResponse {
        let honest = part(bytes)
        let size = "\(Self.size)"
        let extra = Data("extra".utf8)
        var other = self
        other.version += 1_000
        switch Int.random(in: 0..<16, using: &random) {
        case 0:
            return honest.with("Content-Range", text(bytes.lowerBound + 1..<bytes.upperBound + 1, "\(Self.size + 1)"))
        case 1: return honest.with("Content-Range", text(bytes.lowerBound..<bytes.upperBound + 1, "\(Self.size + 1)"))
        case 2: return .data(honest.body + extra, statusCode: 206, headers: honest.headers)
        case 3: return .data(honest.body.dropLast(), statusCode: 206, headers: honest.headers)
        case 4: return honest.with("Content-Range", text(bytes, "\(Self.size + 7)"))
        case 5: return honest.with("Content-Range", "bytes \(bytes.lowerBound)-9223372036854775806/9223372036854775807")
        case 6: return honest.with("Content-Range", "bytes \(bytes.lowerBound)-99999999999999999999/\(size)")
        case 7: return .data(honest.body, statusCode: 206, headers: fields)
        case 8: return honest.with("ETag", "W/\(tag)")
        case 9:
            return .data(
                honest.body, statusCode: 206,
                headers: ["Content-Range": text(bytes, size), "Cache-Control": "max-age=30"])
        case 10: return other.part(bytes)
        case 11: return .status(500)
        case 12: return .status(416, headers: ["Content-Range": "bytes */3", "Cache-Control": "max-age=30"])
        case 13: return honest.truncated(after: .random(in: 0...honest.body.count, using: &random))
        case 14: return .data(Data(), statusCode: 206, headers: honest.headers)
        default: return whole
        }
    }
}
