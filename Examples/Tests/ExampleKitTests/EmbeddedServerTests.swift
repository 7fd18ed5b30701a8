import ExampleKit
import Foundation
import Switchboard
import SwitchboardMocks
import Testing

@Suite(.timeLimit(.minutes(10)))
struct EmbeddedServerTests {
    private struct Sorry: Error {}
    private struct Record: Encodable { let firstName = "Ada" }

    @Test func itAnswersForAsLongAsTheBodyRuns() async throws {
        let manager = NetworkManager(session: DefaultSession.make())
        let url = try await EmbeddedServer.run({ try .record(Record(), status: 200 + $0.segments.count) }) { url in
            let response = try await manager.response(for: URLEndPoint(.get, url.appendingPathComponent("a b/c")))
            #expect(response.statusCode == 202)
            #expect(response.text == #"{"first_name":"Ada"}"#)
            return url
        }
        await #expect(throws: NetworkError.self) { try await manager.data(from: url) }
    }

    @Test func anAnswerThatCannotBeMadeIsA500() async throws {
        let manager = NetworkManager(session: DefaultSession.make())
        let error = await #expect(throws: NetworkError.self) {
            try await EmbeddedServer.run({ _ in throw Sorry() }) { url in try await manager.data(from: url) }
        }
        #expect(error?.statusCode == 500)
    }

    @Test func theHostIsOnceInNoProxy() async throws {
        for _ in 1...2 { try await EmbeddedServer.run({ _ in .status(200) }) { _ in } }
        let environment = ProcessInfo.processInfo.environment
        let hosts = (environment["no_proxy"] ?? environment["NO_PROXY"])?.split(separator: ",") ?? []
        #expect(hosts.filter { $0 == "127.0.0.1" }.count == 1)
    }

    @Test func noneRunsWhereThereIsAnother() async throws {
        let other = try #require(URL(string: "http://127.0.0.1:9"))
        let url = try await EmbeddedServer.run(unless: other, { _ in .status(200) }) { $0 }
        #expect(url == other)
    }

    @Test func aBitmapSaysItsSizeAndItsPixelsAreBlueGreenRed() {
        let bytes = Bitmap.bytes(width: 3, height: 2) { column, row in (red: column, green: row, blue: 9) }
        // A header of 54 bytes, then rows of nine bytes, each padded to twelve.
        #expect(bytes.count == 54 + 2 * 12)
        #expect(Array(bytes[54..<66]) == [9, 0, 0, 9, 0, 1, 9, 0, 2, 0, 0, 0])
        #expect(Array(bytes[66..<78]) == [9, 1, 0, 9, 1, 1, 9, 1, 2, 0, 0, 0])
        #expect(Array(bytes[18..<26]) == [3, 0, 0, 0, 2, 0, 0, 0])
    }
}
