import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// The reasons of decoding errors, with the package's decoder and with Foundation's.
@Suite(.timeLimit(.minutes(10)))
struct DecodingTextTests {
    private let endPoint = URLEndPoint(.get, URL(text: "https://api.example.com/films"))

    @Test("a reason hides a secret that a decoder describes", arguments: [true, false])
    func describedSecret(isFast: Bool) {
        struct Account: Decodable {
            enum Kind: String, Decodable { case basic }
            var password: Kind?
            var card_number: Int?
        }
        let decoder: any ResponseDecoder = isFast ? FastJSONDecoder() : JSONDecoder()
        for text in [#"{"password":"hunter2"}"#, #"{"card_number":4111111111111111.5}"#] {
            let response = NetworkResponse(statusCode: 200, body: Data(text.utf8))
            let error = #expect(throws: NetworkError.self) { try response.decode(Account.self, decoder: decoder) }
            #expect(error?.reason?.contains("hunter2") == false)
            #expect(error?.reason?.contains("4111111111111111") == false)
        }
    }

    @Test("a media type in a reason is short and on one line")
    func mediaType() {
        let type = "text/html\u{9B}2J" + String(repeating: "x", count: 100_000)
        let response = NetworkResponse(statusCode: 200, headers: ["Content-Type": type], body: Data("<html>".utf8))
        let error = #expect(throws: NetworkError.self) { try response.decode([Int].self, decoder: JSONDecoder()) }
        #expect(error?.code == .unexpectedContentType)
        let reason = error?.reason ?? ""
        #expect(reason.hasPrefix("the response is text/html") && reason.count < 1_000)
        #expect(!reason.unicodeScalars.contains("\u{9B}"))
    }

    static let films: [(String, String)] = [
        (
            #"{"page":1,"results":[]}"#,
            "top level: expected an array for [Film], found an object with page, results at line 1, column 1 of the "
                + #"body (23 bytes), near "{"page":1,"results":[]}""#
        ),
        (
            "[{\"id\":1,\n \"tags\":[\"a\", 7]}]",
            #"[0].tags[1]: expected String, found the number 7 at line 2, column 15 of the body (28 bytes), near "#
                + #""[{"id":1, "tags":["a", 7]}]""#
        ),
        (
            #"[{"id":"one","tags":[]}]"#,
            #"[0].id: expected Int, found the string "one" at line 1, column 8 of the body (24 bytes), near "#
                + #""[{"id":"one","tags":[]}]""#
        ),
        (
            #"[{"id":null,"tags":[]}]"#,
            #"[0].id: expected Int, found null at line 1, column 8 of the body (23 bytes), near "#
                + #""[{"id":null,"tags":[]}]""#
        ),
        (
            #"[{"id":1,"tags":{}}]"#,
            "[0].tags: expected an array, found an object with no members at line 1, column 17 of the body (20 bytes), "
                + #"near "[{"id":1,"tags":{}}]""#
        ),
        (
            #"[{"id":true,"tags":[]}]"#,
            #"[0].id: expected Int, found true at line 1, column 8 of the body (23 bytes), near "#
                + #""[{"id":true,"tags":[]}]""#
        ),
        (
            #"[{"tags":[]}, {"id":2, "name":"é"}]"#,
            "[0].id: expected a value, the key is missing; the object at line 1, column 2 of the body (36 bytes) "
                + "has tags"
        ),
        (
            #"[{"id":1,"tags":[],"release_date":""}]"#,
            "[0].releaseDate: expected a value, the key is missing; the object at line 1, column 2 of the body "
                + "(38 bytes) has id, tags, release_date; keyDecodingStrategy = .convertFromSnakeCase reads release_date "
                + "as releaseDate"
        ),
    ]

    @Test("a decoding error says what is there instead, and where", arguments: films)
    func found(json: String, reason: String) async throws {
        for decoder in [FastJSONDecoder.ofResponses, JSONDecoder()] as [any ResponseDecoder] {
            #expect(try await self.reason([Film].self, json, decoder) == reason, "\(type(of: decoder))")
        }
    }

    @Test("a fault far into a body has its surroundings in the text")
    func far() async throws {
        let films = (0..<4_000).map { #"{"id":\#($0),"tags":[],"releaseDate":""}"# }
        let json = "[" + (films + [#"{"id":false,"tags":[],"releaseDate":""}"#]).joined(separator: ",\n") + "]"
        let text = try await reason([Film].self, json)
        #expect(text.hasPrefix("[4000].id: expected Int, found false at line 4001, column 7 of the body ("))
        #expect(text.hasSuffix(#", near "{"id":false,"tags":[],"releaseDate":""}]""#), "\(text)")
    }

    @Test(
        "a secret is in no decoding error",
        arguments: [
            #"{"name":"token","value":"hunter2"}"#, #"{"value":{"token":"hunter2"}}"#,
            #"{"note":"x","value":["a"],"password":"hunter2"}"#, #"{"password":"hunter2","value":true}"#,
        ])
    func secret(json: String) async throws {
        let text = try await reason([String: Int].self, json)
        #expect(!text.contains("hunter2"), "\(text)")
        let deep = try await reason([String: [Login]].self, #"{"logins":[\#(json)]}"#)
        #expect(!deep.contains("hunter2"), "\(deep)")
    }

    @Test("a value under the name of a secret is described by its kind")
    func secretValue() async throws {
        let text = try await reason(Login.self, #"{"token":"hunter2","value":1}"#)
        #expect(text == "token: expected Int, found a string at line 1, column 10 of the body (29 bytes)")
    }

    @Test("a server's name in the path is on one line, and cut")
    func strangeName() async throws {
        let long = String(repeating: "x", count: 100)
        for decoder in [FastJSONDecoder.ofResponses, JSONDecoder()] as [any ResponseDecoder] {
            let lines = try await reason([String: Int].self, #"{"a\r\nb\u2028":true}"#, decoder)
            #expect(lines.hasPrefix(#"a\r\nb\u{2028}: expected Int, found true"#))
            #expect(
                try await reason([String: Int].self, "{\"\(long)\":true}", decoder).hasPrefix(
                    long.prefix(80) + "…: expected"))
        }
    }

    @Test("an object of many members has ten in the text")
    func members() async throws {
        let members = (1...12).map { #""m\#($0)":0"# }.joined(separator: ",")
        let text = try await reason(Film.self, "{\(members)}")
        #expect(text.hasSuffix("has m1, m2, m3, m4, m5, m6, m7, m8, m9, m10 and 2 more"))
    }

    @Test("a date that is none is in the text")
    func date() async throws {
        let text = try await reason([Date].self, #"["2001-01-01T00:00:00Z", "25.05.1979"]"#)
        #expect(
            text.hasPrefix(#"[1]: expected date string to be ISO8601-formatted, found the string "25.05.1979" at "#))
    }

    @Test("broken JSON has the place of the fault and its surroundings")
    func syntax() async throws {
        let json = #"{"page":1,"results":[{"id":1,"title":"Stalker"},{"id":2,,}]}"#
        let text = try await reason([String: Int].self, json)
        #expect(
            text.hasPrefix(
                "results[1].id: not valid JSON: expected a name in quotes, found ',' at line 1, column 57 of "))
        #expect(text.hasSuffix(#", near "…tle":"Stalker"},{"id":2,,}]}""#), "\(text)")
        let other = try await reason([String: Int].self, json, JSONDecoder())
        #expect(other.hasPrefix("not valid JSON"), "\(other)")
    }

    @Test("broken JSON is shown with a mark that is the fault", arguments: ["[1,\u{FE0F}2]", "[1, \u{FE0F}2]"])
    func markAsFault(json: String) async throws {
        let text = try await reason([Int].self, json)
        #expect(text.hasSuffix(", near \"\(json)\""), "\(text)")
    }

    @Test("a text has no position for an offset outside of the body", arguments: [-3, 3])
    func offsetOutside(offset: Int) async throws {
        struct Cells: ResponseDecoder {
            let offset: Int

            func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
                let cause = NSError(
                    domain: "app", code: 1, userInfo: [NSDebugDescriptionErrorKey: "bad cell (byte \(offset))"])
                throw DecodingError.dataCorrupted(
                    .init(
                        codingPath: [], debugDescription: "The given data was not valid JSON.", underlyingError: cause))
            }
        }
        let text = try await reason(Int.self, "no", Cells(offset: offset))
        #expect(text == #"not valid JSON: bad cell (byte \#(offset)); the body (2 bytes) begins "no""#)
    }

    @Test("broken JSON in a string of the body has no position in the body", arguments: [true, false])
    func textWithin(isFast: Bool) async throws {
        struct Event: Decodable {
            init(from decoder: any Decoder) throws {
                let text = try decoder.singleValueContainer().decode([String: String].self)["payload"] ?? ""
                _ = try FastJSONDecoder().decode([String: Int].self, from: Data(text.utf8))
            }
        }
        let decoder: any ResponseDecoder = isFast ? FastJSONDecoder() : JSONDecoder()
        let json = #"{"payload":"{\"a\":}"}"#
        let text = try await reason(Event.self, json, decoder)
        #expect(text.hasPrefix("within a value of the body: "), "\(text)")
        #expect(text.hasSuffix("not valid JSON: expected a value, found '}' at line 1, column 6 (byte 5)"), "\(text)")
        let router = Router<URLEndPoint>(session: StubSession { _ in .json(json, statusCode: 422) })
        let refused = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        let error = #expect(throws: NetworkError.self) { try refused?.decode(Event.self, decoder: decoder) }
        #expect(error?.reason == "the body of the 422 is no Event: \(text)")
    }

    @Test("a type's own rule is no syntax error, whatever its underlying error", arguments: [true, false])
    func ownRule(isFast: Bool) async throws {
        struct Day: Decodable {
            init(from decoder: any Decoder) throws {
                let text = try decoder.singleValueContainer().decode(String.self)
                let cause = NSError(
                    domain: NSCocoaErrorDomain, code: 2048,
                    userInfo: [NSDebugDescriptionErrorKey: "Cannot parse \(text)."])
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "Not a day.", underlyingError: cause))
            }
        }
        let decoder: any ResponseDecoder = isFast ? FastJSONDecoder() : JSONDecoder()
        let text = try await reason([String: Day].self, #"{"released":"25.05.1979"}"#, decoder)
        #expect(
            text == #"released: not a day, found the string "25.05.1979" at line 1, column 13 of the body (25 bytes), "#
                + #"near "{"released":"25.05.1979"}""#)
        let secret = try await reason([String: Day].self, #"{"token":"hunter2"}"#, decoder)
        #expect(secret == "token: the value is not valid at line 1, column 10 of the body (19 bytes)")
    }

    @Test("the cause in an error of a type is in the reason, without its period")
    func ownError() async throws {
        struct Field: Decodable {
            struct Invalid: LocalizedError {
                let errorDescription: String? = "Field 3 is odd."
                let failureReason: String? = "The sum is negative."
            }
            init(from decoder: any Decoder) throws {
                guard try decoder.singleValueContainer().decode(Bool.self) else { throw Invalid() }
                throw NetworkError(.decodingFailed, reason: "field 3 has no length")
            }
        }
        let cause = try await reason(Field.self, "true")
        #expect(cause == #"field 3 has no length; the body (4 bytes) begins "true""#)
        let description = try await reason(Field.self, "false")
        #expect(description == #"Field 3 is odd; the body (5 bytes) begins "false""#)
    }

    @Test("the error of a property list does not mention JSON")
    func propertyList() async throws {
        let list = #"<?xml version="1.0"?><plist><dict><key>a</key>"#
        let text = try await reason([String: Int].self, list, PropertyListDecoder())
        #expect(!text.contains("JSON"), "\(text)")
        #expect(text.contains("; the body (\(list.utf8.count) bytes) begins "), "\(text)")
    }

    @Test("a body of one byte is counted in the singular")
    func oneByte() async throws {
        let text = try await reason(Bool.self, "3")
        #expect(text.hasSuffix(#" of the body (1 byte), near "3""#), "\(text)")
    }

    @Test("Foundation's errors without a path claim no place")
    func placeless() async throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let text = try await reason([Date].self, #"["25.05.1979"]"#, decoder)
        #expect(text == #"expected date string to be ISO8601-formatted; the body (14 bytes) begins "["25.05.1979"]""#)
    }

    @Test("an array with too few elements has its end in the text")
    func end() async throws {
        let text = try await reason([Pair].self, "[[1]]")
        #expect(text.hasPrefix("[0][1]: expected Int, found the end of the array at line 1, column 4 of "), "\(text)")
    }

    @Test("a decoder of camel case finds its value in snake case")
    func snake() async throws {
        var decoder = FastJSONDecoder.ofResponses
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let text = try await reason(Film.self, #"{"id":1,"tags":[],"release_date":7}"#, decoder)
        #expect(text.hasPrefix("releaseDate: expected String, found the number 7 at line 1, column 34 of "), "\(text)")
    }

    @Test("a value is found under its own name, not under a name in snake case", arguments: [true, false])
    func exactName(isFast: Bool) async throws {
        let decoder: any ResponseDecoder = isFast ? FastJSONDecoder.ofResponses : JSONDecoder()
        let text = try await reason(Film.self, #"{"id":1,"tags":[],"release_date":"","releaseDate":7}"#, decoder)
        #expect(text.hasPrefix("releaseDate: expected String, found the number 7 at line 1, column 51 of "), "\(text)")
    }

    @Test("a value is found under its own name, not under its other Unicode form")
    func unicodeForm() async throws {
        struct Poem: Decodable {
            enum CodingKeys: String, CodingKey { case place = "\u{E9}" }
            let place: Int
        }
        let text = try await reason(Poem.self, "{\"e\u{301}\":1,\"\u{E9}\":\"x\"}")
        #expect(text.hasPrefix("\u{E9}: expected Int, found the string \"x\" at line 1, column 13 of "), "\(text)")
    }

    @Test("an error that decodes no body keeps its request and response")
    func errorBody() async throws {
        let router = Router<URLEndPoint>(session: StubSession { _ in .json(#"{"message":"no"}"#, statusCode: 422) })
        let refused = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        let error = try #require(refused)
        let thrown = #expect(throws: NetworkError.self) { try error.decode([Film].self) }
        let failure = try #require(thrown)
        #expect(failure.code == .decodingFailed)
        #expect(failure.statusCode == 422)
        #expect(failure.headers == error.headers)
        #expect(failure.body == error.body)
        #expect(failure.url == endPoint.baseURL)
        #expect(failure.request != nil)
        #expect(failure.history.count == 1)
        #expect(
            failure.reason?.hasPrefix(
                "the body of the 422 is no [Film]: top level: expected an array for [Film], found an object with message"
            )
                == true, "\(failure)")
    }

    @Test("an error without a response has none to decode, and says why")
    func noAnswer() async throws {
        let router = Router<URLEndPoint>(session: StubSession(.failure(.cannotConnect)))
        let refused = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        let error = try #require(refused)
        let thrown = #expect(throws: NetworkError.self) { try error.decode([Film].self) }
        let failure = try #require(thrown)
        #expect(failure.code == .noData)
        #expect(failure.reason == "no response arrived that could be decoded: Could not connect to the server")
        #expect(failure.request != nil)
    }

    private func reason<Value: Decodable & Sendable>(
        _ type: Value.Type, _ json: String, _ decoder: any ResponseDecoder = FastJSONDecoder.ofResponses
    ) async throws -> String {
        let router = Router<URLEndPoint>(session: StubSession { _ in .json(json) })
        let response = try await router.response(for: endPoint)
        let error = #expect(throws: NetworkError.self) { try response.decode(type, decoder: decoder) }
        return error?.reason ?? ""
    }
}

extension DecodingTextTests {
    struct Film: Decodable, Sendable {
        let id: Int
        let tags: [String]
        let releaseDate: String
    }

    struct Login: Decodable, Sendable {
        let token: Int
        let value: Int
    }

    struct Pair: Decodable, Sendable {
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            _ = (try container.decode(Int.self), try container.decode(Int.self))
        }
    }
}
