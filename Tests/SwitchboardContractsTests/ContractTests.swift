import Foundation
import Switchboard
import SwitchboardContracts
import SwitchboardHAR
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

struct ContractTests {
    @Test("a contract of answers has one line for each key path, sorted by name")
    func lines() throws {
        let contract = try Contract(answers: [
            Data(
                #"{"results":[{"title":"Alien","id":1,"rating":8.5,"url":"https://a.example/1","adult":false}],"page":1}"#
                    .utf8),
            Data(#"{"results":[{"title":null,"id":2,"rating":7}],"page":2,"next page":{}}"#.utf8),
        ])
        #expect(
            contract.description == """
                $: object
                "next page"?: object
                page: integer
                results: array
                results[]: object
                results[].adult?: boolean
                results[].id: integer
                results[].rating: number
                results[].title: string | null
                results[].url?: url

                """)
    }

    @Test("a written contract is read as the same one, also with comments")
    func file() async throws {
        try await withFolder { folder in
            let contract = try Contract(answers: [Data(#"[{"a":1,"b":["x"]},{"a":null}]"#.utf8)])
            let file = folder.appendingPathComponent("list.contract")
            try contract.write(to: file)
            #expect(try Contract(contentsOf: file).description == contract.description)
            let commented = "# a list\r\n\n" + contract.description.replacingOccurrences(of: "\n", with: "  # why\r\n")
            #expect(try Contract(commented).description == contract.description)
        }
    }

    @Test("a contract of a name above 4 KiB is an error, as its text would be", arguments: [4_096, 4_097])
    func longName(count: Int) throws {
        let name = String(repeating: "n", count: count)
        let answer = Data(#"{"a":1,"\#(name)":2}"#.utf8)
        let schema = Data(#"{"required":["\#(name)"],"additionalProperties":{"type":"string"}}"#.utf8)
        if count == 4_096 {
            let contracts = [try Contract(answers: [answer]), try Contract(schema: schema)]
            for contract in contracts {
                #expect(try Contract(contract.description).description == contract.description)
            }
        } else {
            #expect(failure { try Contract(answers: [answer]) } == .contractFault)
            #expect(failure { try Contract(schema: schema) } == .contractFault)
        }
    }

    @Test("a file with a fault is an error with its name and line")
    func faultyFile() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("list.contract")
            try Data("$: object\npage: interger\n".utf8).write(to: file)
            let error = #expect(throws: NetworkError.self) { try Contract(contentsOf: file) }
            #expect(error?.code == .contractFault)
            #expect(error?.reason?.contains("list.contract: ") == true)
            #expect(error?.reason?.contains("line 2: interger is no type") == true)
            let missing = folder.appendingPathComponent("missing.contract")
            #expect(failure { try Contract(contentsOf: missing) } == .contractFault)
        }
    }

    @Test("an answer that is not JSON, and no answer at all, are errors")
    func noAnswers() {
        let error = #expect(throws: NetworkError.self) {
            try Contract(answers: [Data("{}".utf8), Data("<html>".utf8)])
        }
        #expect(error?.reason?.contains("answer 2 of 2 is not JSON") == true)
        #expect(failure { try Contract(answers: []) } == .contractFault)
    }

    @Test("a live server's next answer keeps the contract, another one breaks it", .needsHTTPBin)
    func live() async throws {
        let manager = NetworkManager()
        func answer(_ path: String) async throws -> Data {
            try await manager.response(for: URLEndPoint(.get, HTTPBin.url(path))).body
        }
        let contract = try Contract(answers: [try await answer("/get?page=1"), try await answer("/get?page=2")])
        #expect(contract.differences(in: try await answer("/get?page=3")) == [])
        let missing = contract.differences(in: try await answer("/headers")).filter { $0.kind == .missingMember }
        #expect(missing.map(\.path) == ["args", "origin", "url"])
    }

    @Test("an incomplete answer of an archive does not count")
    func incomplete() async throws {
        let recorder = HARRecorder()
        let session = StubSession(
            .json(#"{"id":1}"#), .json(#"{"id":12345}"#).truncated(after: 4), .text(#"{"id":"#, statusCode: 206))
        let router = Router<URLEndPoint>(session: session, monitors: [recorder])
        for _ in 1...3 {
            _ = try? await router.response(for: URLEndPoint(.get, URL(text: "https://films.example.com/")))
        }
        #expect(recorder.count == 3)
        try await withFolder { folder in
            let file = folder.appendingPathComponent("films.har")
            try recorder.write(to: file)
            #expect(try Contract(archive: file) { _ in true }.description == "$: object\nid: integer\n")
        }
    }

    @Test("an archive gives the contract of one URL, and its differences")
    func archive() async throws {
        let entries = [
            ("https://a.example/films?page=1", 200, #"{"page":1}"#), ("https://a.example/films", 503, "<html>"),
            ("https://a.example/films?page=2", 200, #"{"page":2,"next":3}"#), ("https://a.example/", 200, "<html>"),
        ].map { url, status, text in
            ["request": ["method": "GET", "url": url], "response": ["status": status, "content": ["text": text]]]
        }
        try await withFolder { folder in
            let file = folder.appendingPathComponent("films.har")
            try JSONSerialization.data(withJSONObject: ["log": ["entries": entries]]).write(to: file)
            let contract = try Contract(archive: file) { $0.path == "/films" }
            #expect(contract.description == "$: object\nnext?: integer\npage: integer\n")
            #expect(try contract.differences(inArchive: file) { $0.path == "/films" } == [])
            let strict = try Contract("$: object\npage: string\n")
            let differences = try strict.differences(inArchive: file) { $0.path == "/films" }
            #expect(
                differences.map(\.description) == [
                    "next: was no member, is integer", "page: was string, is integer, in 2 places",
                ])
            #expect(failure { try Contract(archive: file) { $0.path == "/other" } } == .contractFault)
        }
    }

    @Test("the masks of secrets in an archive keep a contract of other kinds")
    func masks() async throws {
        let recorder = HARRecorder()
        let id = "4f2c1c1e-7d0b-4d5c-9a59-0c7b8f6e2d11"
        let answer = #"{"pin":1234,"session_id":"\#(id)","token":{"id":1},"tokens":["a"]}"#
        let router = Router<URLEndPoint>(session: StubSession(.json(answer)), monitors: [recorder])
        _ = try await router.response(for: URLEndPoint(.get, URL(text: "https://films.example.com/")))
        let contract = try Contract(answers: [Data(answer.utf8)])
        try await withFolder { folder in
            let file = folder.appendingPathComponent("films.har")
            try recorder.write(to: file)
            #expect(try !String(contentsOf: file, encoding: .utf8).contains("1234"))
            #expect(try contract.differences(inArchive: file) { _ in true } == [])
            let cassette = try Cassette(file: file, mode: .replay)
            cassette.hold(.get(""), to: contract)
            let played = Router<URLEndPoint>(session: cassette)
            _ = try await played.response(for: URLEndPoint(.get, URL(text: "https://films.example.com/")))
            #expect(cassette.faults == [])
        }
    }
}
