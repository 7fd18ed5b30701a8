import Foundation
import Testing

/// httpbin, an independent server, if `scripts/oracles/with-httpbin` runs one.
package enum HTTPBin {
    package static let base = ProcessInfo.processInfo.environment["SWITCHBOARD_HTTPBIN"]
    /// The same server on another port: another origin.
    package static let other = ProcessInfo.processInfo.environment["SWITCHBOARD_HTTPBIN_OTHER"]

    package static func url(_ path: String) throws -> URL {
        let base = try #require(base)
        return try #require(URL(string: base + path))
    }

    /// The answer of `/anything`, `/get` and `/post`, which describes the request.
    package struct Echo: Decodable {
        package var method: String?
        package var args: [String: OneOrMore]
        package var form: [String: OneOrMore]?
        package var files: [String: OneOrMore]?
        package var data: String?
        package var json: JSON?
        package var headers: [String: String]
        package var url: String
    }

    /// A value that httpbin writes as text when its name occurs once, and as a list when the name repeats.
    package enum OneOrMore: Decodable, Equatable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
        case one(String), more([String])

        package init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let one = try? container.decode(String.self) {
                self = .one(one)
            } else {
                self = .more(try container.decode([String].self))
            }
        }

        package init(stringLiteral value: String) { self = .one(value) }
        package init(arrayLiteral elements: String...) { self = .more(elements) }
    }

    /// Any JSON value, to compare the sent value with the one that httpbin decoded.
    package enum JSON: Decodable, Equatable {
        case null, bool(Bool), number(Double), string(String), array([JSON]), object([String: JSON])

        package init(from decoder: any Decoder) throws {
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
    package static var needsHTTPBin: Self {
        .enabled(if: HTTPBin.base != nil, "left out without httpbin: run scripts/oracles/with-httpbin swift test")
    }
}
