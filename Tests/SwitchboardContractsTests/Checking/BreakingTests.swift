import Foundation
import Switchboard
import SwitchboardContracts
import SwitchboardJSON
import Testing

private struct FilmPage: Decodable {
    struct Film: Decodable {
        enum Status: String, Decodable { case planned, released }

        let id: Int
        let title: String
        let releasedOn: Date?
        let status: Status
        let poster: URL?
    }

    let page: Int
    let results: [Film]
    let links: [String: URL]
}

struct BreakingTests {
    private let contract = """
        $: object
        links: object
        links{}: url
        page: integer
        results: array
        results[]: object
        results[].extra: string
        results[].id: integer
        results[].poster: url | null
        results[].released_on?: date-time
        results[].status: "planned" | "released"
        results[].title: string
        """

    private func breaks(_ old: String, _ new: String) throws -> [String] {
        let film = { (id: Int) in
            #"""
            {"extra":"x","id":\#(id),"poster":null,"released_on":"2026-01-02T03:04:05Z","status":"planned","title":"t\#(id)"}
            """#
        }
        let answer = #"{"links":{"a":"https://a.example/"},"page":1,"results":[\#(film(1)),\#(film(2))]}"#
        var decoder = FastJSONDecoder.ofResponses
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let data = Data(answer.replacingOccurrences(of: old, with: new).utf8)
        return try Contract(contract).differences(in: data, breaking: FilmPage.self, decoder: decoder).map {
            "\($0.path) > \($0.brokenMember ?? "nothing")"
        }
    }

    @Test(
        "a difference names the member that no longer decodes, or nothing",
        arguments: [
            ("", "", []), ("\"title\":\"t2\"", "\"title\":null", ["results[].title > FilmPage.results[].title"]),
            (",\"title\":\"t1\"", "", ["results[].title > FilmPage.results[].title"]),
            ("\"id\":", "\"id\":0.5,\"new\":", ["results[].id > FilmPage.results[].id", "results[].new > nothing"]),
            ("\"status\":\"planned\"", "\"status\":\"lost\"", ["results[].status > FilmPage.results[].status"]),
            ("2026-01-02T03:04:05Z", "2026", ["results[].released_on > FilmPage.results[].releasedOn"]),
            ("\"extra\":\"x\"", "\"extra\":1", ["results[].extra > nothing"]),
            ("\"page\":1", "\"page\":null", ["page > FilmPage.page"]),
            ("{\"a\":\"https://a.example/\"}", "{\"a\":1}", ["links{} > FilmPage.links.a"]),
            (
                "{\"a\":\"https://a.example/\"}", "{\"anna@example.com\":1}",
                ["links{} > FilmPage.links{}"]
            ),
            ("{\"a\":\"https://a.example/\"}", "[]", ["links > FilmPage.links"]),
            (
                "\"page\":1,\"results\"", "\"result\"",
                ["page > FilmPage.page", "result > nothing", "results > FilmPage.results"]
            ),
        ] as [(String, String, [String])])
    func members(_ old: String, _ new: String, _ expected: [String]) throws {
        #expect(try breaks(old, new) == expected)
    }

    @Test("several differences name all members, not only the first that fails")
    func several() throws {
        #expect(
            try breaks("\"status\":\"planned\",\"title\":", "\"status\":\"lost\",\"titles\":") == [
                "results[].status > FilmPage.results[].status", "results[].title > FilmPage.results[].title",
                "results[].titles > nothing",
            ])
    }

    @Test("a type that the contract does not describe gives no name")
    func otherType() throws {
        struct Other: Decodable { let else_: Int }
        let answer = Data(#"{"links":{},"page":"1","results":[]}"#.utf8)
        let differences = try Contract(contract).differences(in: answer, breaking: Other.self)
        #expect(differences.map(\.brokenMember) == [nil])
        let broken = try Contract(contract).differences(in: Data("{".utf8), breaking: Other.self)
        #expect(broken.map(\.kind) == [.notJSON])
    }

    @Test("the value in place of a difference has the members of the type")
    func standIn() throws {
        struct Page: Decodable {
            struct Film: Decodable { let id: Int }
            let film: Film
            let title: String
        }
        let contract = try Contract("$: object\nfilm: object\nfilm.id: integer\ntitle: string")
        let differences = contract.differences(in: Data(#"{"film":"x","title":5}"#.utf8), breaking: Page.self)
        #expect(differences.map(\.brokenMember) == ["Page.film", "Page.title"])
    }

    @Test("a type that decodes by hand names the difference below its object")
    func byHand() throws {
        struct Page: Decodable {
            struct Film: Decodable {
                enum CodingKeys: CodingKey { case id, name }
                init(from decoder: any Decoder) throws {
                    let members = try decoder.container(keyedBy: CodingKeys.self)
                    if (try? members.decode(Int.self, forKey: .id)) == nil {
                        throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: ""))
                    }
                }
            }
            let film: Film
            let title: String
        }
        let contract = try Contract("$: object\nfilm: object\nfilm.id: integer\ntitle: string")
        let differences = contract.differences(in: Data(#"{"film":{"id":"x"},"title":5}"#.utf8), breaking: Page.self)
        #expect(
            differences.map { "\($0.path) > \($0.brokenMember ?? "nothing")" } == [
                "film.id > Page.film", "title > Page.title",
            ])
    }

    private struct Item: Decodable { let id: Int? }

    @Test(
        "of two differences of a member, the tolerated one breaks nothing",
        arguments: [
            (#"[{"id":"x"},{"id":null}]"#, ["string"]), (#"[{"id":null},{"id":"x"}]"#, ["string"]),
            (#"[{"id":"x"},{}]"#, ["string"]), (#"[{},{"id":null},{"id":[]},{"id":true}]"#, ["array", "boolean"]),
        ])
    func tolerated(answer: String, broken: [String]) throws {
        let contract = try Contract("$: array\n[]: object\n[].id: integer")
        let differences = contract.differences(in: Data(answer.utf8), breaking: [Item].self)
        #expect(differences.filter { $0.brokenMember != nil }.map(\.actual).sorted() == broken)
    }

    @Test("a type that fails elsewhere blames no tolerated difference")
    func otherPlace() throws {
        struct Named: Decodable { let id: String }
        struct ByHand: Decodable {
            enum CodingKeys: CodingKey { case id }
            init(from decoder: any Decoder) throws {
                let members = try decoder.container(keyedBy: CodingKeys.self)
                guard try members.decodeNil(forKey: .id) else {
                    throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: ""))
                }
            }
        }
        let contract = try Contract("$: array\n[]: object\n[].id: integer")
        let named = contract.differences(in: Data(#"[{"id":1},null]"#.utf8), breaking: [Named?].self)
        #expect(named.map(\.brokenMember) == [nil])
        let byHand = contract.differences(in: Data(#"[{"id":null},{"id":1}]"#.utf8), breaking: [ByHand].self)
        #expect(byHand.map(\.brokenMember) == [nil])
    }

    @Test("a contract whose required members contain themselves ends the search")
    func recursion() throws {
        struct Node: Decodable { let name: String }
        let text = (0..<10).map { "m\($0): @$" }.joined(separator: "\n")
        let contract = try Contract("$: object\nname: string\n\(text)")
        let differences = contract.differences(in: Data("{}".utf8), breaking: Node.self)
        #expect(differences.count { $0.brokenMember == "Node.name" } == 1)
    }
}
