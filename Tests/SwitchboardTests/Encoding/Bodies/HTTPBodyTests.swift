import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

struct HTTPBodyTests {
    /// The least that a custom body must implement.
    private struct Greeting: HTTPBody {
        func encode() throws -> Data { Data("hello".utf8) }
    }

    private static let url = URL(text: "https://h.example/")

    @Test("a custom body needs only encode(); it is not empty and adds no headers", .requirement("S2.1"))
    func ownBody() async throws {
        let body = Greeting()
        #expect(
            !body.isEmpty && body.additionalHeaders.isEmpty && body.length == nil && !body.isStreamed
                && body.isReplayable)
        let request = try RequestBuilder().makeRequest(for: URLEndPoint(.post, Self.url, task: .requestBody(body)))
        #expect(try request.sentText == "hello")
        #expect(request.headers["Content-Type"] == nil)
        let chunks = try await body.makeStream().elements()
        #expect(chunks == [Data("hello".utf8)])
    }

    @Test("a custom body that is empty is never encoded and adds no headers", .requirement("S2.1"))
    func threeMembers() throws {
        struct Silent: HTTPBody {
            var isEmpty: Bool { true }
            var additionalHeaders: HTTPHeaders { ["Content-Type": "text/csv"] }
            func encode() throws -> Data { throw CocoaError(.fileNoSuchFile) }
        }
        let request = try RequestBuilder().makeRequest(for: URLEndPoint(.post, Self.url, task: .requestBody(Silent())))
        #expect(request.body.isEmpty && request.headers["Content-Type"] == nil)
    }

    @Test("the error of a custom body is encodingFailed, and names encode()", .requirement("S2.1"))
    func throwingBody() {
        struct Spoiled: Error {}
        struct Broken: HTTPBody {
            func encode() throws -> Data { throw Spoiled() }
        }
        let error = #expect(throws: NetworkError.self) {
            var request = NetworkRequest(.post, Self.url, body: Broken())
            try request.encodeBody()
        }
        #expect(error?.code == .encodingFailed && error?.underlying is Spoiled)
        #expect(error?.reason == "Spoiled was thrown by the body's encode()")
    }

    @Test("a request has no body by default, and a GET has no Content-Type", .requirement("S2.2"))
    func emptyBody() throws {
        #expect(NetworkRequest(.get, Self.url).body is EmptyBody)
        let request = try RequestBuilder(headers: ["Accept": "*/*", "Content-Type": "application/json"])
            .makeRequest(for: URLEndPoint(.get, Self.url))
        #expect(request.body.isEmpty)
        #expect(try request.body.encode().isEmpty)
        #expect(request.headers == ["Accept": "*/*"])
        #expect(EmptyBody().isEmpty && EmptyBody().length == 0 && EmptyBody().additionalHeaders.isEmpty)
    }

    @Test(
        "DataBody sends its bytes unchanged, with headers unless it is empty", .requirement("S2.3"),
        arguments: [
            Data(), Data([0]), Data([0xFF, 0xFE, 0, 0x0D, 0x0A]), Data(repeating: 7, count: 100_000),
        ])
    func dataBody(data: Data) throws {
        let body = DataBody(data, additionalHeaders: ["Content-Type": "image/png", "X-Part": "1"])
        #expect(body.encode() == data)
        #expect(body.isEmpty == (data.count == 0) && body.length == Int64(data.count))
        let request = try RequestBuilder().makeRequest(for: URLEndPoint(.put, Self.url, task: .upload(body)))
        #expect(try request.body.encode() == data)
        #expect(request.headers["Content-Type"] == (data.isEmpty ? nil : "image/png"))
        #expect(request.headers["X-Part"] == (data.isEmpty ? nil : "1"))
        #expect(DataBody(data, contentType: "a/b").additionalHeaders == ["Content-Type": "a/b"])
        #expect(DataBody(data).additionalHeaders.isEmpty)
    }

    @Test("a slice of Data is sent from the slice's first byte", .requirement("S2.3"))
    func slice() async throws {
        let slice = Data("0123456789".utf8)[3..<6]
        let body = DataBody(slice)
        #expect(body.encode() == Data("345".utf8) && body.length == 3)
        for try await chunk in try body.makeStream() { #expect(chunk == Data("345".utf8)) }
    }

    @Test("the article's form is sent byte for byte", .requirement("S2.5"))
    func articleForm() throws {
        let body = FormBody(["greeting": "Hello, ", "target": "🌎"])
        #expect(String(decoding: try body.encode(), as: UTF8.self) == "greeting=Hello%2C%20&target=%F0%9F%8C%8E")
        #expect(body.additionalHeaders == ["Content-Type": "application/x-www-form-urlencoded; charset=utf-8"])
    }

    @Test("forms keep order, repeats, nil and empty values; + for space is opt-in", .requirement("S2.5"))
    func formItems() throws {
        let items = [("b", "1"), ("a", ""), ("b", "2 3"), ("c", nil)].map { URLQueryItem(name: $0.0, value: $0.1) }
        #expect(String(decoding: try FormBody(items).encode(), as: UTF8.self) == "b=1&a=&b=2%203&c")
        let plus = FormBody(items, encoder: URLEncodedFormEncoder(spaceEncoding: .plusReplaced))
        #expect(String(decoding: try plus.encode(), as: UTF8.self) == "b=1&a=&b=2+3&c")
        #expect(FormBody.decode(try plus.encode()) == items)
        struct Login: Encodable, Sendable { var user = "ann", remember = true }
        #expect(String(decoding: try FormBody(Login()).encode(), as: UTF8.self) == "user=ann&remember=true")
    }

    // Expected: python3, urllib.parse.urlencode(pairs, quote_via=quote, safe="").
    @Test("a form is name=value pairs, with & = + % and Unicode escaped", .requirement("S0.7"))
    func appcodaForm() throws {
        let parameters: Parameters = [
            "firstname": "John", "age": 40, "a": "A&B=C%20d", "plus": "1+1", "name": "Zażółć",
        ]
        let expected = "firstname=John&age=40&a=A%26B%3DC%2520d&plus=1%2B1&name=Za%C5%BC%C3%B3%C5%82%C4%87"
        #expect(String(decoding: try FormBody(parameters).encode(), as: UTF8.self) == expected)
        var draft = NetworkRequest(.post, nil)
        try FormParameterEncoder().encode(parameters, into: &draft)
        #expect(String(decoding: try draft.body.encode(), as: UTF8.self) == expected)
        let decoded = FormBody.decode(try draft.body.encode())
        #expect(decoded.map(\.value) == ["John", "40", "A&B=C%20d", "1+1", "Zażółć"])
    }

    @Test("a stream skips empty chunks; a second iterator continues the first")
    func stream() async throws {
        let chunks = Deliveries<Data>()
        let stream = HTTPBodyStream {
            chunks.add(Data())
            switch chunks.all.count {
            case 1, 3: return Data()
            case 2: return Data("a".utf8)
            case 4: return Data("b".utf8)
            default: return nil
            }
        }
        var first = stream.makeAsyncIterator()
        #expect(try await first.next() == Data("a".utf8))
        var second = stream.makeAsyncIterator()
        #expect(try await second.next() == Data("b".utf8))
        #expect(try await second.next() == nil)
        #expect(try await first.next() == nil)
    }
}
