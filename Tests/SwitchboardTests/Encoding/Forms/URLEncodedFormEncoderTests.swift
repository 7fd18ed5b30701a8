import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardTestSupport
import Testing

/// An object of one member.
private struct Named: Encodable {
    struct Key: CodingKey {
        let stringValue: String
        let intValue: Int? = nil
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    let name: String

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(1, forKey: Key(stringValue: name))
    }
}

/// Every strategy of the encoder. The names and, unless noted, the results are those that Alamofire documents.
struct URLEncodedFormEncoderTests {
    private struct Search: Encodable {
        struct Inner: Encodable { var name = "n", tags = ["x", "y"] }
        var text = "a b"
        var isNew = true
        var inner = Inner()
        var missing: String?
    }

    @Test("members keep their declared order, and nil members are omitted")
    func declaredOrder() throws {
        // Brackets escaped: quote("inner[name]", safe="") in Python.
        let expected = "text=a%20b&isNew=true&inner%5Bname%5D=n&inner%5Btags%5D%5B%5D=x&inner%5Btags%5D%5B%5D=y"
        #expect(try URLEncodedFormEncoder().encode(Search()) == expected)
    }

    /// A value that is written by a closure.
    private struct Custom: Encodable {
        let write: (any Encoder) throws -> Void
        init(_ write: @escaping (any Encoder) throws -> Void) { self.write = write }
        func encode(to encoder: any Encoder) throws { try write(encoder) }
    }

    private static func key(_ name: String) -> Named.Key { Named.Key(stringValue: name) }

    @Test("encodeIfPresent with nil keeps the earlier value, as in JSONEncoder")
    func nilAfterValue() throws {
        let value = Custom { encoder in
            var container = encoder.container(keyedBy: Named.Key.self)
            try container.encode(1, forKey: Self.key("a"))
            try container.encodeIfPresent(Int?.none, forKey: Self.key("a"))
            try container.encodeIfPresent(Named?.none, forKey: Self.key("a"))
            try container.encodeIfPresent(Int?.none, forKey: Self.key("b"))
        }
        #expect(try URLEncodedFormEncoder(nilEncoding: .null).encode(value) == "a=1&b=null")
    }

    @Test("a value whose error is caught leaves nothing, as in JSONBody")
    func caughtErrors() throws {
        struct Refusal: Error {}
        let bad = Custom { encoder in
            var container = encoder.container(keyedBy: Named.Key.self)
            try container.encode("bad", forKey: Self.key("partly"))
            throw Refusal()
        }
        let value = Custom { encoder in
            var container = encoder.container(keyedBy: Named.Key.self)
            try? container.encode(bad, forKey: Self.key("a"))
            try container.encode(1, forKey: Self.key("b"))
            try? container.encode(bad, forKey: Self.key("b"))
            try? container.encode(Double.nan, forKey: Self.key("c"))
            var list = container.nestedUnkeyedContainer(forKey: Self.key("list"))
            try? list.encode(bad)
            try? list.encode([bad])
            try list.encode(2)
            #expect(list.count == 1)
            let single = Custom { encoder in
                var single = encoder.singleValueContainer()
                try? single.encode(bad)
                try single.encode(Named(name: "good"))
            }
            try container.encode(single, forKey: Self.key("d"))
        }
        let expected = #"{"b":1,"list":[2],"d":{"good":1}}"#
        #expect(try String(decoding: JSONBody(Parameters(value)).encode(), as: UTF8.self) == expected)
        #expect(try String(decoding: FastJSONEncoder().encode(value), as: UTF8.self) == expected)
    }

    @Test("the last value of a single-value container counts, of any size")
    func lastSingleValue() throws {
        let many = Dictionary(uniqueKeysWithValues: (10..<40).map { ("k\($0)", $0) })
        let expected = (10..<40).map { "k\($0)=\($0)" }.joined(separator: "&")
        let value = Custom { encoder in
            var single = encoder.singleValueContainer()
            try single.encode(Named(name: "first"))
            try single.encode(many)
            try single.encode(5)
            try single.encode(many)
        }
        #expect(try URLEncodedFormEncoder().encode(value) == expected)
        // The dictionary was sorted before its members are replaced.
        let replaced = Custom { encoder in
            var single = encoder.singleValueContainer()
            try single.encode(many.mapValues { _ in 0 })
            var container = encoder.container(keyedBy: Named.Key.self)
            for index in 10..<40 { try container.encode(index, forKey: Self.key("k\(index)")) }
        }
        #expect(try URLEncodedFormEncoder().encode(replaced) == expected)
    }

    @Test("a nested container requested twice is one container, as in JSONEncoder")
    func nestedTwice() throws {
        struct Twice: Encodable {
            func encode(to encoder: any Encoder) throws {
                var outer = encoder.container(keyedBy: Named.Key.self)
                let (a, c) = (Named.Key(stringValue: "a"), Named.Key(stringValue: "c"))
                for name in ["x", "y"] {
                    var one = outer.nestedContainer(keyedBy: Named.Key.self, forKey: a)
                    try one.encode(name, forKey: Named.Key(stringValue: name))
                    var list = outer.nestedUnkeyedContainer(forKey: c)
                    try list.encode(name)
                }
                // A container of another kind replaces the first.
                _ = outer.nestedUnkeyedContainer(forKey: Named.Key(stringValue: "d"))
                var object = outer.nestedContainer(keyedBy: Named.Key.self, forKey: Named.Key(stringValue: "d"))
                try object.encode(1, forKey: a)
            }
        }
        let text = try URLEncodedFormEncoder(arrayEncoding: .noBrackets).encode(Twice())
        #expect(text.removingPercentEncoding == "a[x]=x&a[y]=y&c=x&c=y&d[a]=1")
    }

    @Test("alphabetizeKeyValuePairs sorts every level; dictionaries always sort")
    func alphabetize() throws {
        let encoder = URLEncodedFormEncoder(alphabetizeKeyValuePairs: true)
        #expect(
            try encoder.encode(Search())
                == "inner%5Bname%5D=n&inner%5Btags%5D%5B%5D=x&inner%5Btags%5D%5B%5D=y&isNew=true&text=a%20b")
        #expect(try encoder.encode(["c": 1, "a": 2, "b": 3] as Parameters) == "a=2&b=3&c=1")
        #expect(try URLEncodedFormEncoder().encode(["c": 1, "a": 2, "b": 3] as [String: Int]) == "a=2&b=3&c=1")
    }

    @Test("alphabetizeKeyValuePairs sorts the names as keyEncoding writes them")
    func alphabetizeConverted() throws {
        let encoder = URLEncodedFormEncoder(
            alphabetizeKeyValuePairs: true, keyEncoding: .lowercased, keyPathEncoding: .dots)
        #expect(try encoder.encode(["Z": ["D": 1, "c": 2], "a": 3] as Parameters) == "a=3&z.c=2&z.d=1")
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private struct WideIntegers: Encodable {
        var signed = Int128.min, unsigned = UInt128.max
        var noSigned: Int128?, noUnsigned: UInt128?
        var list = [1 << 100, -1 as Int128]
        var wrapped = [Wrapped(), Wrapped()]

        struct Wrapped: Encodable {
            func encode(to encoder: any Encoder) throws {
                var single = encoder.singleValueContainer()
                try single.encode(1 << 64 as UInt128)
            }
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("integers of 128 bits are written in full")
    func wideIntegers() throws {
        let (least, most) = ("-170141183460469231731687303715884105728", "340282366920938463463374607431768211455")
        let text = try URLEncodedFormEncoder(arrayEncoding: .noBrackets, nilEncoding: .null).encode(WideIntegers())
        #expect(
            text == "signed=\(least)&unsigned=\(most)&noSigned=null&noUnsigned=null"
                + "&list=1267650600228229401496703205376&list=-1"
                + "&wrapped=18446744073709551616&wrapped=18446744073709551616")
        let json = try JSONBody(try Parameters(WideIntegers())).encode()
        #expect(String(decoding: json, as: UTF8.self).hasPrefix(#"{"signed":\#(least),"unsigned":\#(most),"list""#))
    }

    @Test("array names have brackets, no brackets, indices or a custom form")
    func arrays() throws {
        func text(_ encoding: URLEncodedFormEncoder.ArrayEncoding) throws -> String {
            try URLEncodedFormEncoder(arrayEncoding: encoding).encode(["a": [1, 2]] as Parameters)
        }
        #expect(try text(.brackets) == "a%5B%5D=1&a%5B%5D=2")
        #expect(try text(.noBrackets) == "a=1&a=2")
        #expect(try text(.indexInBrackets) == "a%5B0%5D=1&a%5B1%5D=2")
        #expect(try text(.custom { "\($0).\($1 + 1)" }) == "a.1=1&a.2=2")
    }

    @Test("Booleans are written as literals or as numbers")
    func booleans() throws {
        #expect(
            try URLEncodedFormEncoder(boolEncoding: .literal).encode(["a": true, "b": false] as Parameters)
                == "a=true&b=false")
        #expect(
            try URLEncodedFormEncoder(boolEncoding: .numeric).encode(["a": true, "b": false] as Parameters) == "a=1&b=0"
        )
    }

    @Test("data is written as Base64, as an array of bytes or as custom text")
    func data() throws {
        let parameters: Parameters = ["d": Data([0xFB, 0xFF, 0])]
        // base64.b64encode(b"\xfb\xff\0") == b"+/8A"
        #expect(try URLEncodedFormEncoder(dataEncoding: .base64).encode(parameters) == "d=%2B%2F8A")
        #expect(
            try URLEncodedFormEncoder(dataEncoding: .deferredToData).encode(parameters)
                == "d%5B%5D=251&d%5B%5D=255&d%5B%5D=0")
        #expect(
            try URLEncodedFormEncoder(dataEncoding: .custom { "\($0.count) bytes" }).encode(parameters) == "d=3%20bytes"
        )
    }

    @Test(
        "key encodings change the case of names or apply a closure",
        arguments: [
            ("oneTwoThree", "one_two_three", "one-two-three", "OneTwoThree", "ONETWOTHREE", "onetwothree"),
            ("myURLProperty", "my_url_property", "my-url-property", "MyURLProperty", "MYURLPROPERTY", "myurlproperty"),
            // Foundation assumes that a name begins with a lowercase letter.
            ("URLSession", "u_rl_session", "u-rl-session", "URLSession", "URLSESSION", "urlsession"),
            ("plain", "plain", "plain", "Plain", "PLAIN", "plain"), ("a", "a", "a", "A", "A", "a"),
        ])
    func keys(name: String, snake: String, kebab: String, capitalized: String, upper: String, lower: String) throws {
        func text(_ encoding: URLEncodedFormEncoder.KeyEncoding) throws -> String {
            try URLEncodedFormEncoder(keyEncoding: encoding).encode([name: 1] as Parameters)
        }
        #expect(try text(.useDefaultKeys) == name + "=1")
        #expect(try text(.convertToSnakeCase) == snake + "=1")
        #expect(try text(.convertToKebabCase) == kebab + "=1")
        #expect(try text(.capitalized) == capitalized + "=1")
        #expect(try text(.uppercased) == upper + "=1")
        #expect(try text(.lowercased) == lower + "=1")
        #expect(try text(.custom { "x" + $0 }) == "x\(name)=1")
    }

    @Test("snake case matches Foundation's JSONEncoder")
    func snakeCaseOfFoundation() throws {
        var random = SeededGenerator(seed: 5)
        let foundation = JSONEncoder()
        foundation.keyEncodingStrategy = .convertToSnakeCase
        let ours = URLEncodedFormEncoder(keyEncoding: .convertToSnakeCase)
        // The names of Alamofire's tests that a rule for ordinary words gets wrong are first.
        let names =
            ["ID", "aB1C2", "URL", "myID2", "_aBC_", "A", "aB", "x1Y2z"]
            + (0..<1_000).map { index in
                let pieces = ["a", "B", "1", "_", "URL", "word", "Word", "É", "ß", "-"]
                return (0...Int.random(in: 1...7, using: &random)).map { _ in
                    index < 500 ? random.word().capitalized : pieces[Int.random(in: 0..<pieces.count, using: &random)]
                }.joined()
            }
        for name in names {
            let expected = try #require(
                try JSONDecoder().decode([String: Int].self, from: foundation.encode(Named(name: name))).keys.first)
            var json = FastJSONEncoder()
            json.keyEncodingStrategy = .convertToSnakeCase
            #expect(try String(decoding: json.encode(Named(name: name)), as: UTF8.self) == "{\"\(expected)\":1}")
            let form = URLEncodedFormEncoder()
            #expect(try ours.encode([name: 1] as Parameters) == form.encode([expected: 1] as Parameters))
        }
    }

    // The expected texts follow the documentation of Alamofire's encoder: sorted keys, `1` for true, a `Date` in seconds
    // since 2001 as its `Double` prints itself, and `?` and `/` unescaped.
    @Test("the settings of the article Migrating write Alamofire's form")
    func alamofire() throws {
        let form = URLEncodedFormEncoder(
            alphabetizeKeyValuePairs: true, boolEncoding: .numeric,
            dateEncoding: .custom { "\($0.timeIntervalSinceReferenceDate)" },
            allowedCharacters: CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~/?")))
        let parameters: Parameters = [
            "url": "https://a.example/b?c=d:é", "isNew": true, "date": Date(timeIntervalSinceReferenceDate: 123),
            "later": Date(timeIntervalSinceReferenceDate: 123.5), "n": 7, "ids": [2, 1],
            "user": ["b": false, "a": "x y"],
        ]
        let expected =
            "date=123.0&ids%5B%5D=2&ids%5B%5D=1&isNew=1&later=123.5&n=7&url=https%3A//a.example/b?c%3Dd%3A%C3%A9"
            + "&user%5Ba%5D=x%20y&user%5Bb%5D=0"
        #expect(try form.encode(parameters) == expected)
        let url = try #require(URL(string: "https://h.example/"))
        var draft = NetworkRequest(.get, url)
        try URLParameterEncoder(form).encode(parameters, into: &draft)
        #expect(draft.url?.query(percentEncoded: true) == expected)
        // The differences that the article names.
        #expect(try form.encode(["a": 1.0] as Parameters) == "a=1")
        #expect(try form.encode(["a1": 1, "a": 2] as Parameters) == "a=2&a1=1")
        #expect(throws: NetworkError.self) { try form.encode(["a": Double.infinity] as Parameters) }
    }

    @Test("a key encoding changes names at every depth of values and parameters")
    func keysAtEveryDepth() throws {
        struct Outer: Encodable { struct Inner: Encodable { var firstName = "a" }; var theUser = Inner() }
        let encoder = URLEncodedFormEncoder(keyEncoding: .convertToSnakeCase)
        #expect(try encoder.encode(Outer()) == "the_user%5Bfirst_name%5D=a")
        #expect(try encoder.encode(["theUser": ["firstName": "a"]] as Parameters) == "the_user%5Bfirst_name%5D=a")
    }

    @Test("key paths are written with brackets, with dots or by a closure")
    func keyPaths() throws {
        let parameters: Parameters = ["user": ["home": ["city": "x"]]]
        #expect(try URLEncodedFormEncoder().encode(parameters) == "user%5Bhome%5D%5Bcity%5D=x")
        #expect(try URLEncodedFormEncoder(keyPathEncoding: .dots).encode(parameters) == "user.home.city=x")
        #expect(
            try URLEncodedFormEncoder(keyPathEncoding: .custom { "\($0)-\($1)" }).encode(parameters)
                == "user-home-city=x")
    }

    @Test("nil is dropped, empty, null or custom, in parameters and in values")
    func nils() throws {
        struct Value: Encodable { var a: Int?, b = 1 }
        func texts(_ encoding: URLEncodedFormEncoder.NilEncoding) throws -> [String] {
            let encoder = URLEncodedFormEncoder(nilEncoding: encoding)
            return [try encoder.encode(Value()), try encoder.encode(["a": nil as Int?, "b": 1] as Parameters)]
        }
        #expect(try texts(.dropKey) == ["b=1", "b=1"])
        #expect(try texts(.dropValue) == ["a=&b=1", "a=&b=1"])
        #expect(try texts(.null) == ["a=null&b=1", "a=null&b=1"])
        #expect(try texts(.custom("none at all")) == ["a=none%20at%20all&b=1", "a=none%20at%20all&b=1"])
    }

    @Test("spaces become %20 or +, and a plus sign is always escaped")
    func spaces() throws {
        #expect(
            try URLEncodedFormEncoder(spaceEncoding: .percentEscaped).encode(["a b": "c+d e"] as Parameters)
                == "a%20b=c%2Bd%20e")
        #expect(
            try URLEncodedFormEncoder(spaceEncoding: .plusReplaced).encode(["a b": "c+d e"] as Parameters)
                == "a+b=c%2Bd+e")
    }

    @Test("allowedCharacters stay unescaped, except those that change meaning")
    func allowedCharacters() throws {
        let parameters: Parameters = ["a[]": "@:/é %&=+#\n"]
        let allowed = CharacterSet(charactersIn: "a[]@:/é %&=+#\n")
        // quote("@:/é %&=+#\n", safe="@:/") in Python
        #expect(
            try URLEncodedFormEncoder(allowedCharacters: allowed).encode(parameters)
                == "a[]=@:/%C3%A9%20%25%26%3D%2B%23%0A")
        #expect(
            try URLEncodedFormEncoder(allowedCharacters: CharacterSet()).encode(["ab": "c"] as Parameters)
                == "%61%62=%63")
    }

    @Test("values without names are refused with encodingFailed")
    func noNames() {
        let errors = [
            #expect(throws: NetworkError.self) { try URLEncodedFormEncoder().encode([1, 2]) },
            #expect(throws: NetworkError.self) { try URLEncodedFormEncoder().encode("text") },
            #expect(throws: NetworkError.self) { try URLEncodedFormEncoder().encode(5) },
            #expect(throws: NetworkError.self) { try URLEncodedFormEncoder().encode(nil as [String: Int]?) },
        ]
        #expect(errors.allSatisfy { $0?.code == .encodingFailed && $0?.reason?.contains("names") == true })
    }
}
