import Foundation
@testable import Switchboard
import SwitchboardPlatform
import SwitchboardStreams
import SwitchboardTestSupport
import Testing

/// `multipart/x-mixed-replace` as Apple's systems report it: a response for each part, and no boundaries
/// (https://developer.apple.com/documentation/foundation/urlsessiondatadelegate/urlsession(_:datatask:didreceive:completionhandler:)).
@Suite(.timeLimit(.minutes(10)))
struct ReplacedPartsTests {
    private let url = FoundationExchange.playedURL
    private let outer = ["Content-Type": "multipart/x-mixed-replace; boundary=\"--a b\"", "Server": "camera"]

    private func part(_ type: String?) -> URLResponse {
        URLResponse(url: url, mimeType: type, expectedContentLength: -1, textEncodingName: nil)
    }

    private func parts(_ response: NetworkResponse) async throws -> [ResponsePart] {
        let parts = try await response.parts().elements()
        return parts
    }

    @Test("each part arrives, streamed and in memory", arguments: [true, false])
    func eachPart(streams: Bool) async throws {
        let response = try await FoundationExchange.play(streams: streams) { exchange in
            exchange.didReceive(try FoundationExchange.head(outer))
            exchange.didReceive(part("image/jpeg"))
            exchange.didReceive(Data("on".utf8))
            exchange.didReceive(Data("e".utf8))
            exchange.didReceive(part("text/plain"))
            exchange.didReceive(Data("two\r\n".utf8))
            exchange.didReceive(part(nil))
            exchange.didComplete(with: nil)
        }
        #expect(response.headers["Content-Type"] == outer["Content-Type"])
        let expected = [
            ResponsePart(headers: ["Content-Type": "image/jpeg"], body: Data("one".utf8)),
            ResponsePart(headers: ["Content-Type": "text/plain"], body: Data("two\r\n".utf8)),
            ResponsePart(headers: [:], body: Data()),
        ]
        #expect(try await parts(response) == expected)
    }

    @Test("a part has the fields that differ from the response's")
    func fields() async throws {
        let response = try await FoundationExchange.play(streams: true) { exchange in
            exchange.didReceive(try FoundationExchange.head(outer))
            exchange.didReceive(
                try FoundationExchange.head([
                    "Content-Type": "image/jpeg", "Server": "camera", "X-Time": "1", "X-Bad": "a\r\n\r\nb",
                ]))
            exchange.didReceive(Data("one".utf8))
            exchange.didComplete(with: nil)
        }
        let headers = try #require(try await parts(response).first).headers
        #expect(headers["Content-Type"] == "image/jpeg" && headers["X-Time"] == "1")
        // Four blanks: a line end in a value cannot begin another field.
        #expect(!headers.contains("Server") && headers["X-Bad"] == "a    b")
    }

    @Test("content after the first response is a part")
    func contentOfTheFirstResponse() async throws {
        let response = try await FoundationExchange.play(streams: false) { exchange in
            exchange.didReceive(try FoundationExchange.head(outer))
            exchange.didReceive(Data("one".utf8))
            exchange.didReceive(part("image/png"))
            exchange.didReceive(Data("two".utf8))
            exchange.didComplete(with: nil)
        }
        #expect(try await parts(response).map(\.body) == [Data("one".utf8), Data("two".utf8)])
    }

    @Test("a connection lost in a part ends the reader after the complete parts")
    func lost() async throws {
        let response = try await FoundationExchange.play(streams: true) { exchange in
            exchange.didReceive(try FoundationExchange.head(outer))
            for text in ["one", "tw"] {
                exchange.didReceive(part("image/png"))
                exchange.didReceive(Data(text.utf8))
            }
            exchange.didComplete(with: URLError(.networkConnectionLost))
        }
        var bodies: [Data] = []
        let error = await #expect(throws: NetworkError.self) {
            for try await part in try response.parts() { bodies.append(part.body) }
        }
        #expect(error?.code == .truncatedBody && bodies == [Data("one".utf8)])
    }

    @Test("parts in memory count against the limit of a body")
    func limit() async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await FoundationExchange.play(streams: false, limit: 100) { exchange in
                exchange.didReceive(try FoundationExchange.head(outer))
                for _ in 1...30 {
                    exchange.didReceive(part("image/png"))
                    exchange.didReceive(Data("one".utf8))
                }
                exchange.didComplete(with: nil)
            }
        }
        #expect(error?.code == .responseTooLarge)
    }
}
