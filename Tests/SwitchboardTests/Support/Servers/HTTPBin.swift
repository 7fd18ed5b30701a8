import Foundation
import Testing

/// httpbin, an independent server, if `scripts/oracles/with-httpbin` runs one.
enum HTTPBin {
    static let base = ProcessInfo.processInfo.environment["SWITCHBOARD_HTTPBIN"]
    /// The same server on another port: another origin.
    static let other = ProcessInfo.processInfo.environment["SWITCHBOARD_HTTPBIN_OTHER"]

    static func url(_ path: String) throws -> URL {
        let base = try #require(base)
        return try #require(URL(string: base + path))
    }

    /// The answer of `/anything`, `/get` and `/post`, which describes the request.
    struct Echo: Decodable {
        var method: String?
        var args: [String: OneOrMore]
        var form: [String: OneOrMore]?
        var files: [String: OneOrMore]?
        var data: String?
        var json: JSON?
        var headers: [String: String]
        var url: String
    }

    /// A value that httpbin writes as text when its name occurs once, and as a list when the name repeats.
    enum OneOrMore: Decodable, Equatable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
        case one(String), more([String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let one = try? container.decode(String.self) {
                self = .one(one)
            } else {
                self = .more(try container.decode([String].self))
            }
        }

        init(stringLiteral value: String) { self = .one(value) }
        init(arrayLiteral elements: String...) { self = .more(elements) }
    }

    /// Any JSON value, to compare the sent value with the one that httpbin decoded.
    enum JSON: Decodable, Equatable {
        case null, bool(Bool), number(Double), string(String), array([JSON]), object([String: JSON])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .bool(value)
            } else if let value = try? container.decode(Double.self) {
                self = .number(value)
            } else if let value = try? container.decode(String.self) {
                self = .string(value)
            } else if let value = try? container.decode([JSON].self) {
                self = .array(value)
            } else {
                self = .object(try container.decode([String: JSON].self))
            }
        }
    }
}

extension Trait where Self == ConditionTrait {
    static var needsHTTPBin: Self {
        .enabled(if: HTTPBin.base != nil, "left out without httpbin: run scripts/oracles/with-httpbin swift test")
    }
}
