import Foundation
import Switchboard
import SwitchboardContracts
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

private enum ContractApi: EndPointType {
    case film(Int)

    var baseURL: String { "https://films.example.com" }
    var path: String {
        switch self {
        case .film(let id): "films/\(id)"
        }
    }
}

struct MockContractTests {
    private func contract() throws -> Contract { try Contract("$: object\nid: integer\n") }

    @Test("a stub that breaks its contract fails the call and verify()")
    func stub() async throws {
        let session = StubSession()
        session.stub(ContractApi.film(1), with: .json(#"{"id":"1"}"#))
        session.stub(ContractApi.film(2), with: .json(#"{"id":"2"}"#))
        session.hold(ContractApi.film(1), to: try contract())
        let router = Router<ContractApi>(session: session)
        _ = try await router.response(for: .film(2))
        for _ in 0..<2 {
            let error = await #expect(throws: NetworkError.self) { try await router.response(for: .film(1)) }
            #expect(error?.code == .contractFault)
            #expect(error?.reason?.contains("id: was integer, is string") == true)
        }
        #expect(session.faults.count == 1)
        withKnownIssue {
            session.verify()
        } matching: {
            "\($0)".contains("id: was integer, is string")
        }
    }

    @Test(
        "an answer that keeps the contract, fails or is cut short is no fault",
        arguments: [
            .json(#"{"id":1}"#), .json(#"{"id":1}"#).gzipped(), .json("{}", statusCode: 404), .status(204), .close,
            .json("{}").truncated(after: 1), .text("{", statusCode: 206),
        ] as [MockResponse])
    func kept(_ response: MockResponse) async throws {
        let session = StubSession(response)
        session.hold(.any, to: try contract())
        _ = try? await Router<ContractApi>(session: session).response(for: .film(1))
        #expect(session.faults == [])
    }

    @Test(
        "answers of a queue, a closure, a coding and another session are checked",
        arguments: [
            StubSession(.json("{}")), StubSession(.json("{}").gzipped()), StubSession { _ in .json("{}") },
            StubSession(fallingBackTo: StubSession(.json("{}"))),
            StubSession(.json("{}", headers: ["Content-Encoding": "Identity"])),
        ])
    func sources(_ session: StubSession) async throws {
        session.hold(.get("films/*"), to: try contract())
        let router = Router<ContractApi>(session: session)
        #expect(await failure { try await router.response(for: .film(1)) } == .contractFault)
        #expect(session.faults.count == 1)
    }

    @Test("a server sends an answer that breaks a contract, and has a fault")
    func server() async throws {
        try await MockServer.run { server in
            server.hold(.get("films/*"), to: try contract())
            server.enqueue(.json(#"{"id":1}"#))
            let manager = NetworkManager(baseURL: server.url)
            _ = try await manager.response(for: .get("films/1"))
            #expect(server.faults == [])
            let encoded = MockResponse.json(#"{"id":1}"#).gzipped().body
            server.enqueue(.json(encoded, headers: ["Content-Encoding": "gzip"]))
            let decoded = try await manager.response(for: .get("films/1"))
            #expect(decoded.text == #"{"id":1}"# && server.faults == [])
            server.enqueue(.json("[]"))
            _ = try await manager.response(for: .get("films/2"))
            #expect(server.faults.count == 1)
            #expect(server.faults.first?.contains("$: was object, is array") == true)
        }
    }

    @Test("a cassette's entry that breaks a contract fails call and test")
    func cassette() async throws {
        let entries = [1, 2].map { id -> [String: Any] in
            [
                "request": ["method": "GET", "url": "https://films.example.com/films/\(id)"],
                "response": ["status": 200, "content": ["text": id == 1 ? #"{"id":1}"# : #"{"id":null}"#]],
            ]
        }
        try await withFolder { folder in
            let file = folder.appendingPathComponent("films.har")
            try JSONSerialization.data(withJSONObject: ["log": ["entries": entries]]).write(to: file)
            let cassette = try Cassette(file: file, mode: .replay)
            cassette.hold(ContractApi.film(2), to: try contract())
            cassette.hold(.get("films/1"), to: try contract())
            let router = Router<ContractApi>(session: cassette)
            _ = try await router.response(for: .film(1))
            #expect(await failure { try await router.response(for: .film(2)) } == .contractFault)
            #expect(cassette.faults.count == 1)
            #expect(cassette.faults.first?.contains("id: was integer, is null") == true)
        }
    }
}
