import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardStreams
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// `router.elements(of:as:at:)`: a JSON array that is decoded while it arrives.
@Suite(.timeLimit(.minutes(10)))
struct JSONElementsTests {
    private struct Film: Codable, Equatable, Sendable { var id: Int, title: String }

    private func read(
        _ text: String, at path: [String] = [], limit: Int = 1 << 20
    ) async -> (ids: [Int], error: NetworkError?) {
        let router = Router<URLEndPoint>(session: StubSession(.text(text)))
        var ids: [Int] = []
        let endPoint = URLEndPoint(.get, URL(text: "http://h.test/films"))
        do {
            for try await film in router.elements(for: endPoint, as: Film.self, at: path, limit: limit) {
                ids.append(film.id)
            }
        } catch {
            return (ids, error as? NetworkError)
        }
        return (ids, nil)
    }

    private func films(_ ids: ClosedRange<Int>) -> String {
        "[" + ids.map { #"{"id":\#($0),"title":"[a],{b}\""}"# }.joined(separator: ",\n ") + "]"
    }

    @Test("an element is delivered before the body ends", arguments: SessionKind.allCases)
    func asTheyArrive(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let text = #"{"page":{"results":[{"id":1,"title":"a"},{"id":2,"title":"b"}]}}"#
            server.enqueue(.json(text).stalled(after: 45))
            let router = Router<URLEndPoint>(session: kind.make())
            let films = router.elements(for: URLEndPoint(.get, server.url), as: Film.self, at: ["page", "results"])
            var iterator = films.makeAsyncIterator()
            let first = try await iterator.next()
            #expect(first == Film(id: 1, title: "a"))
            let request = try await server.takeRequest()
            #expect(request.headers["Accept"] == "application/json")
            router.cancel()
        }
    }

    @Test("an element may arrive in pieces of any size", arguments: [1, 2, 7, 64])
    func pieces(size: Int) async throws {
        try await MockServer.run { server in
            server.enqueue(.json(films(1...20)).chunked(size))
            let router = Router<URLEndPoint>()
            let films = router.elements(for: URLEndPoint(.get, server.url), as: Film.self)
            let ids = try await films.reduce(into: []) { $0.append($1.id) }
            #expect(ids == Array(1...20))
        }
    }

    @Test("the array is the body or at a path of names")
    func paths() async {
        #expect(await read(films(1...300)).ids == Array(1...300))
        #expect(await read(#"{"x":[{"a":[9]}],"a":{"b":\#(films(3...5))},"c":1}"#, at: ["a", "b"]).ids == [3, 4, 5])
        #expect(await read("[]").error == nil)
    }

    @Test("an element of another shape is decodingFailed after the valid ones")
    func badElement() async {
        let (ids, error) = await read(#"{"films":[{"id":1,"title":"a"},{"id":"x","title":"b"}]}"#, at: ["films"])
        #expect(ids == [1])
        #expect(error?.code == .decodingFailed)
        #expect(error?.reason?.hasPrefix("films[1].id: expected Int, found a string") == true)
        #expect(error?.url?.absoluteString == "http://h.test/films")
    }

    @Test("any error of an element's type is the cause of decodingFailed", arguments: [true, false])
    func foreignError(isFast: Bool) async {
        struct Odd: Error {}
        struct Value: Decodable {
            init(from decoder: any Decoder) throws { throw Odd() }
        }
        let decoder: any ResponseDecoder = isFast ? FastJSONDecoder() : JSONDecoder()
        let router = Router<URLEndPoint>(session: StubSession(.text("[{}]")), decoder: decoder)
        let endPoint = URLEndPoint(.get, URL(text: "http://h.test/films"))
        let error = await #expect(throws: NetworkError.self) {
            for try await _ in router.elements(for: endPoint, as: Value.self) {}
        }
        #expect(error?.code == .decodingFailed)
        #expect(error?.underlying is Odd)
        #expect(error?.request?.url == endPoint.baseURL)
    }

    @Test(
        "a body that is cut, invalid or without the array is decodingFailed",
        arguments: [
            #"[{"id":1,"title":"a"}"#, #"[{"id":1,"title":"a"},]"#, #"[{"id":1,"title":"a"}]]"#, "", "{}", "null",
            #"{"films":{}}"#,
        ])
    func badBody(text: String) async {
        #expect(await read(text).error?.code == .decodingFailed)
    }

    @Test("an element or other text beyond the limit is responseTooLarge")
    func limit() async {
        let long = String(repeating: "x", count: 300)
        #expect(
            await read(#"[{"id":1,"title":"a"},{"id":2,"title":"\#(long)"#, limit: 200).error?.code == .responseTooLarge
        )
        #expect(await read(#"{"a":"\#(long)","#, at: ["films"], limit: 200).error?.code == .responseTooLarge)
        #expect(await read(films(1...100), limit: 200).error == nil)
        let element = #"{"id":1,"title":"a""#
        #expect(await read("[\(element)", limit: element.utf8.count).error?.code == .decodingFailed)
        #expect(await read("[\(element)", limit: element.utf8.count - 1).error?.code == .responseTooLarge)
        // Complete within one chunk.
        let (first, second) = (element + "}", element + " }")
        let both = await read("[\(first),\(second)]", limit: second.utf8.count)
        #expect(both.ids == [1, 1] && both.error == nil)
        let one = await read("[\(first),\(second)]", limit: first.utf8.count)
        #expect(one.ids == [1] && one.error?.code == .responseTooLarge)
    }
}
