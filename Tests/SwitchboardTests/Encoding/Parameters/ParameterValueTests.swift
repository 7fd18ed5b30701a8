import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

/// The encoded form of each kind of value.
struct ParameterValueTests {
    private enum Genre: String, Sendable { case drama = "Drama & more" }
    private enum Level: Int, Sendable { case high = 3 }
    private struct Point: Encodable, Sendable { var x = 1, y: Int?, tags = ["a"] }
    private struct Bare: RawRepresentable, Sendable { var rawValue: String }
    private struct Key: RawRepresentable, Encodable, Sendable { var rawValue: UUID }
    private enum Origin: RawRepresentable, Encodable, Sendable {
        case main
        case other(URL)

        var rawValue: URL {
            switch self {
            case .main: URL(text: "https://h.example")
            case .other(let url): url
            }
        }

        init?(rawValue: URL) { self = .main }
    }

    private struct Cents: RawRepresentable, Encodable, Sendable {
        var rawValue: Int

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(Decimal(rawValue) / 100)
        }
    }

    private struct Money: RawRepresentable, Encodable, Sendable {
        enum CodingKeys: CodingKey { case amount }

        var rawValue = "10.50 EUR"

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode("10.50", forKey: .amount)
        }
    }

    private static let uuid = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"

    /// The documented form of each kind, unescaped: names and values as an independent reader sees them.
    private static let forms: [(any Sendable, String)] = [
        ("text", "v=text"), (Substring("sub"), "v=sub"), ("c" as Character, "v=c"), (1, "v=1"), (Int8(-8), "v=-8"),
        (UInt64.max, "v=18446744073709551615"), (Int64.min, "v=-9223372036854775808"), (1.5, "v=1.5"), (2.0, "v=2"),
        (Float(0.1), "v=0.1"),
        (Decimal(string: "0.10")!, "v=0.1"), (true, "v=true"), (false, "v=false"),
        (Date(timeIntervalSince1970: 0), "v=1970-01-01T00:00:00Z"),
        (Data([1, 2]), "v=AQI="), (URL(text: "https://h/a?b=c"), "v=https://h/a?b=c"),
        (UUID(uuidString: uuid)!, "v=" + uuid),
        (Genre.drama, "v=Drama & more"), (Level.high, "v=3"), (Bare(rawValue: "raw"), "v=raw"),
        (Key(rawValue: UUID(uuidString: uuid)!), "v=" + uuid), (Cents(rawValue: 1050), "v=10.5"),
        (Origin.main, "v=https://h.example"), (Origin.other(URL(text: "https://o.example")), "v=https://o.example"),
        ([1, 2], "v[]=1|v[]=2"), (["a": 1, "b": 2], "v[a]=1|v[b]=2"), ([[1], [2, 3]], "v[][]=1|v[][]=2|v[][]=3"),
        (["k": ["x", "y"]], "v[k][]=x|v[k][]=y"), (Point(), "v[x]=1|v[tags][]=a"),
        ([Point(x: 2)], "v[][x]=2|v[][tags][]=a"),
        ([Genre.drama], "v[]=Drama & more"),
        (Parameters(dictionaryLiteral: ("z", 1), ("a", 2), ("z", 3)), "v[z]=1|v[a]=2|v[z]=3"),
        (5 as Int?, "v=5"), (5 as Int???, "v=5"), ([1, nil, 3] as [Int?], "v[]=1|v[]=3"),
        (["a": nil, "b": 2] as [String: Int?], "v[b]=2"),
        (nil as Int?, ""), (nil as [String]?, ""), (NSNull(), ""), (Int???.some(.some(nil)), ""), ([] as [Int], ""),
        ([1, "two", true, nil as Int?, ["k": 4.5]] as [any Sendable], "v[]=1|v[]=two|v[]=true|v[][k]=4.5"),
        (NSNumber(value: true), "v=true"), (NSNumber(value: false), "v=false"), (NSNumber(value: 1), "v=1"),
        (NSNumber(value: 0), "v=0"),
        (Money(), "v[amount]=10.50"),
        (NSNumber(value: 1.5), "v=1.5"), (NSNumber(value: UInt64.max), "v=18446744073709551615"),
        (NSDecimalNumber(string: "12345678901234567890.12"), "v=12345678901234567890.12"),
    ]

    private static func unescaped(_ form: String) -> String {
        FormBody.decode(form).map { "\($0.name)=\($0.value ?? "(none)")" }.joined(separator: "|")
    }

    @Test("a value within an AnyHashable is read as itself")
    func hashable() throws {
        let values: [String: AnyHashable] = ["a": NSNull(), "b": NSNumber(value: true), "c": [1]]
        let form = try URLEncodedFormEncoder().encode(Parameters(["v": values] as [String: Any]))
        #expect(Self.unescaped(form) == "v[b]=true|v[c][]=1")
    }

    @Test("each kind of value has one query form", .requirement("S1.4"), arguments: forms.indices)
    func queryForms(index: Int) throws {
        let (value, expected) = Self.forms[index]
        var draft = NetworkRequest(.get, URL(text: "https://h/"))
        try URLParameterEncoder().encode(["v": value], into: &draft)
        let text = try #require(draft.url?.absoluteString)
        #expect(Self.unescaped(String(text.drop { $0 != "?" }.dropFirst())) == expected)
        #expect(
            Self.unescaped(try URLEncodedFormEncoder(alphabetizeKeyValuePairs: true).encode(["v": value] as Parameters))
                .split(separator: "|").sorted() == expected.split(separator: "|").sorted())
    }

    @Test("the a[]=1 style is the default, and other styles are selectable", .requirement("S1.4"))
    func styles() throws {
        let parameters: Parameters = ["a": [1, 2], "o": ["k": true], "n": nil as Int?]
        #expect(Self.unescaped(try URLEncodedFormEncoder().encode(parameters)) == "a[]=1|a[]=2|o[k]=true")
        let other = URLEncodedFormEncoder(
            arrayEncoding: .noBrackets, boolEncoding: .numeric, keyPathEncoding: .dots, nilEncoding: .null)
        let task = HTTPTask.requestParameters(
            bodyEncoding: .jsonEncoding(query: other),
            urlParameters: parameters)
        let request = try RequestBuilder().makeRequest(for: EndPointFixture(task: task))
        #expect(request.url?.query == "a=1&a=2&o.k=1&n=null")
    }

    @Test("JSON that Foundation parsed is written back unchanged", .requirement("S1.4"))
    func parsedJSON() throws {
        let json =
            #"{"array":[1,true,null,"x"],"big":18446744073709551615,"f":1.5,"false":false,"null":null,"one":1,"zero":0}"#
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: any Sendable])
        let parameters = Parameters(object)
        #expect(String(decoding: try JSONBody(parameters).encode(), as: UTF8.self) == json)
    }

    @Test("a value of another kind is refused at any depth and never printed", .requirement("S1.4"))
    func otherKinds() {
        struct Opaque: Sendable { var secret = "s3cret" }
        let values: [any Sendable] = [
            Opaque(), [Opaque()], ["k": Opaque()], Opaque() as Opaque?, (1, 2), { @Sendable in },
        ]
        for value in values {
            let error = #expect(throws: NetworkError.self) {
                try URLEncodedFormEncoder().encode(["v": value] as Parameters)
            }
            #expect(error?.code == .encodingFailed)
            #expect(error?.reason?.contains("\"v") == true)
            #expect(error.map { "\($0)".contains("s3cret") } == false)
        }
    }

    @Test("the error of a value without a name does not mention a name")
    func unnamed() {
        let body = JSONBody(ParameterValue(Double.nan))
        let error = #expect(throws: NetworkError.self) { try body.encode() }
        #expect(error?.reason == "the value is nan, which is not a finite number")
    }

    private struct User: Encodable, Sendable { var ratios = [1, Double.nan] }

    private static let faults: [(Parameters, String)] = [
        (["user": User()], "user.ratios[1]"), (["users": [User()]], "users[].ratios[1]"),
        (["page": ["user": User()]], "page[user].ratios[1]"), (["ratio": [ParameterValue.number("1x")]], "ratio[0]"),
    ]

    @Test("an error names the whole path to a value within a parameter", arguments: faults.indices)
    func paths(index: Int) {
        let (parameters, path) = Self.faults[index]
        let error = #expect(throws: NetworkError.self) { try JSONBody(parameters).encode() }
        #expect(error?.code == .encodingFailed)
        #expect(error?.reason?.hasPrefix("the value of \"\(path)\", a ") == true, "\(String(describing: error))")
    }

    /// A value that contains itself, in lists or in objects.
    private struct Nest: Encodable, Sendable {
        private enum CodingKeys: CodingKey { case inner }

        let depth: Int
        let isObject: Bool

        func encode(to encoder: any Encoder) throws {
            let inner = depth > 1 ? Nest(depth: depth - 1, isObject: isObject) : nil
            if isObject {
                var object = encoder.container(keyedBy: CodingKeys.self)
                try object.encodeIfPresent(inner, forKey: .inner)
            } else {
                var array = encoder.unkeyedContainer()
                if let inner { try array.encode(inner) }
            }
        }
    }

    /// Returns the length of the JSON and form of a nested value, or the errors, on a thread with 512 KiB of stack.
    private func onSmallStack(_ nest: Nest) async -> [Result<Int, any Error>] {
        [
            await onThread { try JSONBody(ParameterValue(nest)).encode().count },
            await onThread { try URLEncodedFormEncoder().encode(["v": ParameterValue(nest)] as Parameters).count },
            await onThread { try JSONBody(nest).encode().count },
        ]
    }

    /// A list in a list, whose code takes 8 KiB of the stack in each level.
    private struct WideNest: Encodable, Sendable {
        let depth: Int

        func encode(to encoder: any Encoder) throws {
            try Self.withStack(kibibytes: 8) {
                var list = encoder.unkeyedContainer()
                if depth > 1 { try list.encode(WideNest(depth: depth - 1)) } else { try list.encode(depth) }
            }
        }

        /// A larger allocation would be on the heap.
        private static func withStack(kibibytes: Int, _ body: () throws -> Void) rethrows {
            try withUnsafeTemporaryAllocation(byteCount: 1 << 10, alignment: 1) { space in
                space.initializeMemory(as: UInt8.self, repeating: UInt8(kibibytes))
                if kibibytes > 1 { try withStack(kibibytes: kibibytes - 1, body) } else { try body() }
                precondition(space[.random(in: 0..<space.count)] == kibibytes)  // keeps an optimizer from removing it
            }
        }
    }

    @Test("a value that is too deep for its stack throws")
    func wide() async {
        let result = await onThread { try JSONBody(ParameterValue(WideNest(depth: 100))).encode() }
        #expect(throws: NetworkError.self) { try result.get() }
        let small = await onThread { try JSONBody(ParameterValue(WideNest(depth: 20))).encode() }
        #expect(throws: Never.self) { try small.get() }
    }

    /// A value that encodes itself in its own place.
    private struct Endless: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(self)
        }
    }

    /// A value that is its own raw value.
    private struct EndlessRaw: RawRepresentable, Sendable {
        var rawValue: EndlessRaw { self }

        init() {}

        init?(rawValue: EndlessRaw) {
            self = rawValue
        }
    }

    @Test("a value that encodes itself without end throws")
    func endless() {
        let errors = [
            #expect(throws: NetworkError.self) { try URLEncodedFormEncoder().encode(Endless()) },
            #expect(throws: NetworkError.self) { try Parameters(Endless()) },
            #expect(throws: NetworkError.self) { try JSONBody(["a": Endless()] as Parameters).encode() },
            #expect(throws: NetworkError.self) { try JSONBody(["a": EndlessRaw()] as Parameters).encode() },
        ]
        #expect(errors.map { $0?.code } == [.encodingFailed, .encodingFailed, .encodingFailed, .encodingFailed])
    }

    @Test("deeply nested values encode or throw on a stack of 512 KiB", arguments: [true, false])
    func deep(isObject: Bool) async {
        for depth in [60, 128, 1_000] {
            let results = await onSmallStack(Nest(depth: depth, isObject: isObject))
            for result in results where depth < 100 { #expect(throws: Never.self) { try result.get() } }
            for result in results where depth > 128 { #expect(throws: (any Error).self) { try result.get() } }
        }
    }

    @Test("deeply nested values without a type convert or throw on 512 KiB", arguments: [true, false])
    func deepUntyped(isObject: Bool) async {
        for depth in [60, 1_000] {
            var nested: any Sendable = 1
            for _ in 0..<depth {
                if isObject {
                    nested = ["k": nested] as [String: any Sendable]
                } else {
                    nested = [nested] as [any Sendable]
                }
            }
            let value = nested
            let converted = (0..<depth).reduce(ParameterValue.null) { value, _ in .array([value]) }
            let results = [
                await onThread { try JSONBody(["v": value] as Parameters).encode().count },
                await onThread { try Parameters(["v": value] as [String: Any]).count },
                await onThread { try Parameters(["v": converted] as [String: Any]).count },
            ]
            for result in results where depth < 100 { #expect(throws: Never.self) { try result.get() } }
            for result in results where depth > 128 { #expect(throws: NetworkError.self) { try result.get() } }
        }
    }
}
