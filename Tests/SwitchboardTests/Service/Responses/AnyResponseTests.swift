import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Responses without a model: any JSON, a value at a path, and other formats.
struct AnyResponseTests {
    private static let endPoint = URLEndPoint(.get, URL(text: "http://h.test/film"))

    private func router(_ text: String) -> Router<URLEndPoint> { Router(session: StubSession(.json(text))) }

    @Test("any JSON is one value type, with its order, its numbers and its parts")
    func anyJSON() async throws {
        let text = #"{"b":[1,2.50,12345678901234567890123,1e3,9007199254740993.0],"a":{"t":"x","n":null,"f":false}}"#
        let value = try await router(text).request(Self.endPoint, as: ParameterValue.self)
        #expect(value["b"]?[0]?.intValue == 1 && value["b"]?[1]?.doubleValue == 2.5 && value["b"]?[5] == nil)
        #expect(value["b"]?[1]?.intValue == nil && value["b"]?[3]?.intValue == 1000)
        #expect(value["b"]?[4]?.intValue == 9_007_199_254_740_993)
        #expect(value["b"]?[2] == .number("12345678901234567890123") && value["b"]?[2]?.intValue == nil)
        #expect(
            value["a"]?["t"]?.stringValue == "x" && value["a"]?["n"] == .null && value["a"]?["f"]?.boolValue == false)
        #expect(value.objectValue?.map(\.name) == ["b", "a"] && value["missing"] == nil && value[0] == nil)
        #expect(try String(decoding: JSONBody(value).encode(), as: UTF8.self) == text)
    }

    @Test("Foundation's decoder makes the same value, but for the order")
    func foundation() async throws {
        let text = #"{"a":[1,2.5,true,null,"x",{"k":18446744073709551615}]}"#
        let options = RequestOptions { $0.decoder = JSONDecoder() }
        let value = try await router(text).request(Self.endPoint, as: ParameterValue.self, options: options)
        #expect(value == ["a": [1, 2.5, true, nil, "x", ["k": ParameterValue.number("18446744073709551615")]]])
    }

    @Test("a value at a path is decoded, and an error names the whole path")
    func path() async throws {
        let text = #"{"page":{"results":[{"id":7}]}}"#
        struct Film: Decodable, Equatable, Sendable { var id: Int }
        let films = try await router(text).request(Self.endPoint, as: [Film].self, at: ["page", "results"])
        #expect(films == [Film(id: 7)])
        let error = await #expect(throws: NetworkError.self) {
            try await router(text).request(Self.endPoint, as: [String].self, at: ["page", "results"])
        }
        #expect(error?.code == .decodingFailed && error?.reason?.contains("page.results[0]") == true)
        let missing = await #expect(throws: NetworkError.self) {
            try await router(text).request(Self.endPoint, as: Film.self, at: ["page", "film"])
        }
        #expect(missing?.reason?.contains("film") == true)
        let list = await #expect(throws: NetworkError.self) {
            try await router("[]").request(Self.endPoint, as: [Film].self, at: ["results"])
        }
        #expect(list?.reason?.hasPrefix("top level: expected an object, found an array at line 1") == true)
    }

    @Test("any JSON needs a body and the last name of a path")
    func missing() async throws {
        let empty = await #expect(throws: NetworkError.self) {
            try await router("").request(Self.endPoint, as: ParameterValue.self)
        }
        #expect(empty?.code == .noData)
        let nameless = await #expect(throws: NetworkError.self) {
            try await router("{}").request(Self.endPoint, as: ParameterValue.self, at: ["film"])
        }
        #expect(nameless?.code == .decodingFailed)
        #expect(try await router("").request(Self.endPoint, as: ParameterValue?.self) == nil)
    }

    @Test("an optional at a path is nil for no body, null and no last name")
    func optionalAtPath() async throws {
        for text in ["", #"{"page":{"film":null}}"#, #"{"page":{}}"#] {
            #expect(try await router(text).request(Self.endPoint, as: [Int]?.self, at: ["page", "film"]) == .some(nil))
        }
        let text = #"{"page":{"film":[1]}}"#
        #expect(try await router(text).request(Self.endPoint, as: [Int]?.self, at: ["page", "film"]) == [1])
        for text in ["{}", #"{"page":null}"#, #"{"page":{"film":"x"}}"#] {
            await #expect(throws: NetworkError.self) {
                try await router(text).request(Self.endPoint, as: [Int]?.self, at: ["page", "film"])
            }
        }
    }

    @Test("a path has the names of the JSON or those that the decoder makes of them")
    func convertedPath() async throws {
        var fast = FastJSONDecoder.ofResponses
        fast.keyDecodingStrategy = .convertFromSnakeCase
        let foundation = JSONDecoder()
        foundation.keyDecodingStrategy = .convertFromSnakeCase
        let text = #"{"page_info":{"_film_ids":[1]}}"#
        for decoder in [fast, foundation] as [any ResponseDecoder] {
            let options = RequestOptions { $0.decoder = decoder }
            for path in [["page_info", "_film_ids"], ["pageInfo", "_filmIds"]] {
                let ids = try await router(text).request(
                    Self.endPoint, as: [Int]?.self, at: path, options: options)
                #expect(ids == [1])
            }
        }
        #expect(try await router(text).request(Self.endPoint, as: [Int].self, at: ["page_info", "_film_ids"]) == [1])
        await #expect(throws: NetworkError.self) {
            try await router(text).request(Self.endPoint, as: [Int].self, at: ["pageInfo", "_filmIds"])
        }
    }

    @Test("a closure decodes any format, and its error is that of the decoding")
    func closure() async throws {
        struct Feed { var title: Substring? }
        struct NoFeed: Error {}
        let stub = StubSession { _ in .text("<feed>Alien</feed>") }
        let router = Router<URLEndPoint>(session: stub)
        let feed = try await router.request(Self.endPoint) { Feed(title: $0.text.dropFirst(6).dropLast(7)) }
        #expect(feed.title == "Alien" && stub.requests.first?.headers["Accept"] == "*/*")
        let error = await #expect(throws: NetworkError.self) {
            try await router.request(Self.endPoint) { _ -> Feed in throw NoFeed() }
        }
        #expect(error?.code == .decodingFailed && error?.underlying is NoFeed && error?.statusCode == 200)
    }
}
