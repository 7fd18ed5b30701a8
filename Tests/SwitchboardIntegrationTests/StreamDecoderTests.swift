import Foundation
import Switchboard
import SwitchboardCalls
import SwitchboardStreams
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// One rule: every typed call decodes with the decoder of its request.
struct StreamDecoderTests {
    private struct Showing: Decodable, Equatable, Sendable { var startDate: Date }

    /// A decoder that only its own settings make succeed: another date format, and names in snake case.
    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            return Date(timeIntervalSince1970: Double(text.dropFirst(2)) ?? -1)
        }
        return decoder
    }

    private static let text = #"{"start_date":"t:7"}"#
    private static let expected = [Showing(startDate: Date(timeIntervalSince1970: 7))]

    @Test("streams, lines, events and pages decode with the decoder of the router")
    func streams() async throws {
        let stub = StubSession()
        let events = MockResponse.text(
            "data: \(Self.text)\n\ndata: end\n\n", headers: ["Content-Type": "text/event-stream"])
        stub.stub(.path("/events"), with: events)
        stub.stub(.path("/line"), with: .text(Self.text))
        stub.stub(.path("/list"), with: .json("[\(Self.text)]"))
        let options = RequestOptions { $0.decoder = Self.decoder }
        let router = Router<URLEndPoint>(session: stub, options: options)
        func at(_ path: String) -> URLEndPoint {
            URLEndPoint(.get, URL(text: "http://h.test").appendingPathComponent(path))
        }

        #expect(try await router.elements(for: at("/list"), as: Showing.self).all() == Self.expected)
        #expect(try await router.jsonLines(for: at("/line"), as: Showing.self).all() == Self.expected)
        #expect(try await router.events(for: at("/events"), as: Showing.self, until: "end").all() == Self.expected)
        #expect(try await router.pages(for: at("/list"), as: [Showing].self).all().flatMap(\.value) == Self.expected)
        #expect(try await router.call(for: at("/list"), as: [Showing].self).value == Self.expected)
    }

    @Test("a response's bytes decode with the decoder of its request")
    func bytes() async throws {
        let stub = StubSession(.json("[\(Self.text)]"), .text(Self.text))
        let manager = NetworkManager(session: stub, decoder: Self.decoder)
        let endPoint = URLEndPoint(.get, URL(text: "http://h.test"))
        let elements = try await manager.streamedResponse(for: endPoint).bytes
        #expect(try await elements.elements(as: Showing.self).all() == Self.expected)
        let lines = try await manager.streamedResponse(for: endPoint).bytes
        #expect(try await lines.jsonLines(as: Showing.self).all() == Self.expected)
    }

    @Test("an element that another decoder refuses is named by its path")
    func refused() async throws {
        let router = Router<URLEndPoint>(
            session: StubSession(.json(#"{"page":[{"start_date":"t:7"},{"start_date":null}]}"#)))
        let endPoint = URLEndPoint(.get, URL(text: "http://h.test/"))
        let error = await #expect(throws: NetworkError.self) {
            let options = RequestOptions { $0.decoder = Self.decoder }
            for try await _ in router.elements(for: endPoint, as: Showing.self, at: ["page"], options: options) {}
        }
        #expect(error?.code == .decodingFailed)
        #expect(error?.reason?.contains("page[1].startDate") == true, "\(String(describing: error?.reason))")
    }
}

extension AsyncSequence {
    fileprivate func all() async throws -> [Element] {
        try await reduce(into: []) { $0.append($1) }
    }
}
