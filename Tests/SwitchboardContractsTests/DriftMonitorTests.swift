import Foundation
import Switchboard
import SwitchboardContracts
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

private enum FilmApi: EndPointType {
    case film(Int), other

    var baseURL: String { "https://films.example.com" }
    var path: String { "film" }
}

struct DriftMonitorTests {
    private let contract = "$: object\nid: integer\nstate: \"closed\" | \"open\"\ntitle?: string\n"

    @Test("each difference is reported once, with its count, and no call fails")
    func reports() async throws {
        let seen = Deliveries<String>()
        let drift = DriftMonitor(["FilmApi.film": try Contract(contract)]) { seen.add("\($0)") }
        let session = StubSession(
            .json(#"{"id":1,"state":"open"}"#), .json(#"{"id":"1","state":"lost","title":null,"new":1}"#),
            .json(#"{"id":"2","state":"lost"}"#), .json("[", statusCode: 500), .json("{}"), .json("[1,"))
        let router = Router<FilmApi>(session: session, monitors: [drift])
        for number in 0..<3 { _ = try await router.response(for: .film(number)) }
        await #expect(throws: NetworkError.self) { try await router.response(for: .film(3)) }
        #expect(
            seen.all == [
                "FilmApi.film: id: was integer, is string", "FilmApi.film: new: was no member, is integer",
                #"FilmApi.film: state: was "closed" | "open", is "lost""#, "FilmApi.film: title: was string, is null",
            ])
        #expect(drift.reports.map(\.difference.count) == [2, 1, 2, 1])
        _ = try await router.response(for: .other)
        #expect(drift.reports.count == 4)
        _ = try await router.response(for: .film(4))
        #expect(seen.all.last == "FilmApi.film: $: was object, is not JSON")
    }

    @Test("a monitor that samples checks every n-th answer from the first on")
    func samples() async throws {
        let drift = DriftMonitor(["FilmApi.film": try Contract(contract)], every: 3)
        let session = StubSession { _ in .json(#"{"id":null,"state":"open"}"#) }
        let router = Router<FilmApi>(session: session, monitors: [drift])
        for number in 0..<7 { _ = try await router.response(for: .film(number)) }
        #expect(drift.reports.map(\.difference.count) == [3])
    }

    @Test("a large body, a stream and a download are not checked")
    func unchecked() async throws {
        let drift = DriftMonitor(["FilmApi.film": try Contract(contract)], bodyLimit: 10)
        let session = StubSession { _ in .json(#"{"id":null,"state":"open"}"#) }
        let router = Router<FilmApi>(session: session, monitors: [drift])
        _ = try await router.response(for: .film(1))
        for try await _ in router.bytes(for: .film(1)) {}
        try await withFolder { folder in
            _ = try await router.download(.film(1), to: folder.appendingPathComponent("film"))
        }
        #expect(drift.reports == [])
    }

    @Test("a part of an answer is not checked")
    func part() async throws {
        let drift = DriftMonitor(["FilmApi.film": try Contract(contract)])
        let session = StubSession(.text(#"{"id":"#, statusCode: 206, headers: ["Content-Range": "bytes 0-5/30"]))
        _ = try await Router<FilmApi>(session: session, monitors: [drift]).response(for: .film(1))
        #expect(drift.reports == [])
    }

    @Test("a body of exactly the largest size is checked", arguments: [(11, 1), (10, 0)])
    func largestBody(size: Int, reports: Int) async throws {
        let drift = DriftMonitor(["FilmApi.film": try Contract("$: object\nid: string")], bodyLimit: size)
        let session = StubSession { _ in .json(#"{"id":null}"#) }
        _ = try await Router<FilmApi>(session: session, monitors: [drift]).response(for: .film(1))
        #expect(drift.reports.count == reports)
    }

    @Test("the reports are at most 500, and contain no value of an answer")
    func bounded() async throws {
        let drift = DriftMonitor(
            ["FilmApi.film": try Contract("$: object\npassword: \"a\" | \"b\"\nmail: uuid\n")], bodyLimit: .max)
        let session = StubSession { _ in
            let names = (0..<2_000).map { #""n\#($0)x":"private""# }.joined(separator: ",")
            return .json(#"{"password":"private","mail":"private","private@example.com":1,\#(names)}"#)
        }
        let router = Router<FilmApi>(session: session, monitors: [drift])
        for number in 0..<3 { _ = try await router.response(for: .film(number)) }
        #expect(drift.reports.count == DriftMonitor.maximumCount)
        #expect(drift.reports.allSatisfy { !$0.description.contains("private") })
    }
}
