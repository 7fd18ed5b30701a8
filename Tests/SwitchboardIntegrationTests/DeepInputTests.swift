import Foundation
import SwitchboardCalls
import SwitchboardJSON
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@testable import Switchboard
@testable import SwitchboardHAR

/// Deeply nested input, on a thread with a stack of 1 MiB.
@Suite(.inTurn, .timeLimit(.minutes(10)))
struct DeepInputTests {
    private static func objects(_ depth: Int, around inner: String) -> String {
        String(repeating: #"{"a":"#, count: depth) + inner + String(repeating: "}", count: depth)
    }

    private func onSmallStack<Output: Sendable>(
        _ body: @escaping @Sendable () async throws -> Output
    ) async throws -> Output {
        #if os(Linux)
        let session = CurlSession()
        return try await withTaskExecutorPreference(session.taskExecutor) { try await body() }
        #else
        return try await body()
        #endif
    }

    /// Returns the recorder's archive of an exchange with this body in both directions.
    private func archive(_ body: String, type: String = "application/json") async throws -> String {
        let recorder = HARRecorder(bodyLimit: 1 << 22)
        let headers: HTTPHeaders = ["Content-Type": type, "X-Echo": "echo deep-secret-value"]
        let session = StubSession { _ in .data(Data(body.utf8), headers: headers) }
        let router = Router<URLEndPoint>(
            session: session, options: RequestOptions { $0.monitors.append(recorder) })
        let task = HTTPTask.requestBody(DataBody(Data(body.utf8), contentType: type))
        let endPoint = URLEndPoint(.post, URL(text: "https://api.example.com/"), task: task)
        return try await onSmallStack {
            _ = try await router.response(for: endPoint)
            return String(decoding: try recorder.data, as: UTF8.self)
        }
    }

    @Test("HARRecorder masks a secret 500 levels deep wherever it appears")
    func recorder() async throws {
        let secret = #"{"token":"deep-secret-value"}"#
        let lists = String(repeating: "[", count: 250) + Self.objects(250, around: secret)
        for body in [Self.objects(500, around: secret), lists + String(repeating: "]", count: 250)] {
            let archive = try await archive(body)
            #expect(!archive.contains("deep-secret-value"))
            #expect(archive.contains("echo REDACTED"))
        }
    }

    @Test("HARRecorder masks named secrets in JSON 30,000 levels deep", arguments: ["[", #"{"a":"#])
    func depth(opening: String) async throws {
        let body = String(repeating: opening, count: 30_000) + #"{"token":"deep-secret-value"}"#
        let archive = try await archive(body)
        #expect(!archive.contains(#"token\":\"deep-secret-value"#))
        #expect(archive.components(separatedBy: #"token\":\"REDACTED"#).count == 3)
    }

    @Test("masks multipart 1,000 levels deep below the eighth level")
    func multipart() async throws {
        var body = "--b999\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\ndeep-secret-value\r\n--b999--\r\n"
        for level in (0..<999).reversed() {
            let type = "multipart/mixed; boundary=b\(level + 1)"
            body = "--b\(level)\r\nContent-Type: \(type)\r\n\r\n\(body)\r\n--b\(level)--\r\n"
        }
        let archive = try await archive(body, type: "multipart/form-data; boundary=b0")
        #expect(!archive.contains("token"))
        #expect(archive.contains("--b7"))
    }

    @Test("compares JSON 500 levels deep")
    func comparison() async throws {
        let (one, other) = (Self.objects(500, around: "1"), Self.objects(500, around: "2"))
        try await onSmallStack {
            let tree = try #require(JSONTree(Data(one.utf8)))
            #expect(tree == JSONTree(Data(one.utf8)))
            #expect(tree != JSONTree(Data(other.utf8)))
        }
    }

    // Copying the values of all arrays so far for each array would take an hour.
    @Test("reads a million arrays in one array")
    func wide() {
        let text = "[" + String(repeating: "[1],", count: 999_999) + "[1]]"
        guard case .array(let arrays) = JSONTree(Data(text.utf8)) else {
            Issue.record("no array")
            return
        }
        #expect(arrays.count == 1_000_000 && arrays.last == .array([.number(1)]))
    }

    @Test(
        "reads JSON as Foundation does, except for trailing commas",
        arguments: [
            "{}", "[]", " [ ] ", "[1,2]", "[,1]", "[1 2]", "{\"a\":1}", "{\"a\"}", "{a:1}",
            "{\"a\":}",
            "[1", "[1]]", "[[1]", "{\"a\":[{},{\"b\":[]}]}", "null", "nul", "true", "tru", "false", "1", "-1", "-",
            "01",
            "1.5", "1.", ".5", "1e3", "1E-3", "1e", "1e+", "-0", "\"a\"", "\"a", "\"\\n\\t\\\"\\\\\\/\\b\\f\\r\"",
            "\"\\x\"",
            "\"\\u00e9\"", "\"\\u12\"", "\"\\ud83d\\ude00\"", "\"\\ud83d\"", "\"\\ud83dx\"", "\"\t\"", "\"é😀\"", "",
            "  ",
            "{\"a\":null,\"b\":[true,false]}", "[1]x", "{\"\":\"\"}", "12345678901234567890", "1e20", "[1,,]", "[,]",
            "{,}",
        ])
    func reading(text: String) throws {
        let foundation = try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        let tree = JSONTree(fragment: Data(text.utf8))
        #expect((tree != nil) == (foundation != nil))
        switch tree {
        case .string(let string): #expect(foundation as? String == string)
        case .number(let number):
            #expect((foundation as? NSNumber)?.doubleValue == NSDecimalNumber(decimal: number).doubleValue)
        case .array(let values): #expect((foundation as? [Any])?.count == values.count)
        case .object(let members):
            #expect((foundation as? [String: Any])?.keys.sorted() == members.keys.map(\.text).sorted())
        default: break
        }
    }

    /// Encodes a nested value of that depth without building it.
    private struct Nest: Encodable {
        let depth: Int
        var isList = false

        enum Key: String, CodingKey { case next }

        func encode(to encoder: any Encoder) throws {
            if isList {
                var container = encoder.unkeyedContainer()
                if depth > 0 { try container.encode(Nest(depth: depth - 1, isList: true)) }
            } else {
                var container = encoder.container(keyedBy: Key.self)
                if depth > 0 { try container.encode(Nest(depth: depth - 1), forKey: .next) }
            }
        }
    }

    /// Encodes nested containers.
    private struct Containers: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            for _ in 0..<2_000 { container = container.nestedUnkeyedContainer() }
        }
    }

    private static func code(_ body: () throws -> some Any) -> NetworkError.Code? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? NetworkError)?.code
        }
    }

    @Test("encodes 120 levels of nesting, and throws encodingFailed for 100,000")
    func encoding() async throws {
        try await onSmallStack {
            for isList in [false, true] {
                let text = String(decoding: try JSONBody(Nest(depth: 120, isList: isList)).encode(), as: UTF8.self)
                #expect(text.count { $0 == (isList ? "[" : "{") } == 121)
                let deep = Nest(depth: 100_000, isList: isList)
                #expect(Self.code { try JSONBody(deep).encode() } == .encodingFailed)
                #expect(Self.code { try URLEncodedFormEncoder().encode(["a": deep]) } == .encodingFailed)
            }
            #expect(Self.code { try JSONBody(Containers()).encode() } == .encodingFailed)
            var value: ParameterValue = 1
            for _ in 0..<1_000 { value = .array([value]) }
            let parameters: Parameters = ["a": value]
            #expect(Self.code { try JSONBody(parameters).encode() } == .encodingFailed)
            #expect(Self.code { try URLEncodedFormEncoder().encode(parameters) } == .encodingFailed)
        }
    }

    @Test("a call with 100,000 steps or 10,000 zips runs and is released", .requirement("S1.15"))
    func calls() async throws {
        try await onSmallStack {
            var call = NetworkCall { 0 }
            var zipped = NetworkCall { 0 }
            for index in 0..<100_000 {
                call =
                    switch index % 3 {
                    case 0: call.map { $0 + 1 }
                    case 1: call.compactMap { $0 + 1 }
                    default: call.flatMap { value in NetworkCall { value + 1 } }
                    }
            }
            for _ in 0..<10_000 { zipped = zipped.zip(NetworkCall { 1 }).map { $0 + $1 } }
            let values = [try await call.value, try await call.value, try await zipped.value]
            #expect(values == [100_000, 100_000, 10_000])
        }
    }

    @Test("steps keep nil, Void and tuples as values of a call", .requirement("S1.15"))
    func values() async throws {
        #expect(try await NetworkCall<Int?> { nil }.map { $0 == nil }.value)
        #expect(try await NetworkCall { () }.map { 1 }.value == 1)
        #expect(try await NetworkCall { (1, "a") }.map { $0.0 }.value == 1)
        #expect(try await NetworkCall<(any Sendable)> { 1 }.map { $0 as? Int }.value == 1)
    }
}
