import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

/// The selection of a stored response by the request fields that its `Vary` names ([RFC 9111
/// §4.1](https://www.rfc-editor.org/rfc/rfc9111#section-4.1)).
enum CacheVariant {
    /// The largest number of variants of one key. The least recently used ones are evicted.
    static let limit = 16

    /// The largest number of names and bytes of a `Vary`. Each lookup compares the fields of all names.
    private static let bounds = (names: 64, bytes: 4_096)

    /// The reason why a response without ``names(_:)`` is not stored.
    static let refusal: CacheRefusal =
        "its Vary is *, names more than \(bounds.names) fields or has more than \(bounds.bytes) bytes"

    /// Returns the names of a response's `Vary`: in lower case, sorted. Nil for `*`, which matches no other request,
    /// and for a `Vary` above the bounds, which counts as one.
    static func names(_ headers: HTTPHeaders) -> [String]? {
        let values = headers.values(for: "Vary")
        guard !values.isEmpty else { return [] }
        guard values.reduce(0, { $0 + $1.utf8.count }) <= bounds.bytes else { return nil }
        let names = Set(values.listMembers.map { $0.lowercased() })
        return names.contains("*") || names.count > bounds.names ? nil : names.sorted()
    }

    /// Returns a request's values of the named fields. A field that the request lacks has no value, which is not the
    /// same as an empty one. URLSession adds an `Accept-Language` after the cache, so the device's languages are then
    /// the value, after a word that no normalized value contains.
    static func text(
        _ names: [String], of request: NetworkRequest,
        languages: @autoclosure () -> [String] = Locale.preferredLanguages
    ) -> String {
        guard !names.isEmpty else { return "" }
        let fields = request.allHeaders
        return names.map { name in
            let values = fields.values(for: name)
            guard values.isEmpty else { return "\(name): \(normalized(name, values).joined(separator: ", "))" }
            return name == "accept-language" ? "\(name): NONE \(languages().joined(separator: ","))" : name
        }.joined(separator: "\n")
    }

    /// Returns whether a request has the values of a stored response, or of their hash.
    static func matches(_ variant: String, _ names: [String], _ request: NetworkRequest) -> Bool {
        let values = text(names, of: request)
        return variant.hasBytes(of: values)
            || isHash(variant) && variant == (try? hash(values))
    }

    /// Returns the values of fewer named fields. Nil when a name is new, and for a hash.
    static func reduced(_ variant: String, to names: [String]) -> String? {
        let lines = variant.pieces(between: .lineFeed)
        let kept = names.compactMap { name in
            lines.first { $0.utf8.elementsEqual(name.utf8) || $0.utf8.starts(with: (name + ": ").utf8) }
        }
        return kept.count == names.count ? kept.joined(separator: "\n") : nil
    }

    private static let hashPrefix = "sha256:"

    /// Returns whether the text is a hash. The value of a field named `sha256` follows a space.
    private static func isHash(_ variant: String) -> Bool {
        variant.hasPrefix(hashPrefix) && !variant.utf8.contains(.space)
    }

    /// Returns the hash that a file has instead of the values, which may be secrets.
    static func hash(_ variant: String) throws(NetworkError) -> String {
        variant.isEmpty || isHash(variant)
            ? variant : hashPrefix + (try MessageDigest.sha256.checkedHash(Data(variant.utf8)).hexText)
    }

    /// The list fields whose syntax is known, in lower case.
    private static let lists: Set<String> = ["accept", "accept-charset", "accept-encoding", "accept-language"]

    /// Returns the values of a field in a form that is equal for values with the same meaning. Fields without a known
    /// syntax keep their lines.
    ///
    /// Members are sorted by weight. Of equal weight, they keep their order, because servers read it as a priority;
    /// only the order of encodings means nothing ([RFC 9110
    /// §12.5](https://www.rfc-editor.org/rfc/rfc9110#section-12.5)).
    static func normalized(_ name: String, _ values: [String]) -> [String] {
        guard lists.contains(name), values.count > 1 || !values.allSatisfy(isPlain) else { return values }
        let members = values.flatMap { $0.splitOutsideQuotes(at: .comma) }.map { member(name, $0) }
        let sorted = members.enumerated().filter { !$0.element.text.isEmpty }.sorted { one, other in
            if one.element.weight != other.element.weight { return one.element.weight > other.element.weight }
            return name == "accept-encoding"
                ? one.element.text < other.element.text : one.offset < other.offset
        }
        return [
            sorted.map(\.element).map { $0.weight == 1 ? $0.text : "\($0.text);q=\($0.weight)" }.joined(separator: ",")
        ]
    }

    /// Returns whether the only value of a field is in its normalized form.
    static func isNormalized(_ name: String, _ value: String) -> Bool { isPlain(value) || !lists.contains(name) }

    /// Returns whether a value is one member in its normalized form.
    private static func isPlain(_ value: String) -> Bool {
        var value = value
        return value.withUTF8 { bytes in
            bytes.allSatisfy { (0x61...0x7A).contains($0) || (0x2A...0x39).contains($0) && $0 != 0x2C }
        }
    }

    /// Returns a member without white space and without its weight. Parameters of a media type keep their case.
    private static func member(_ name: String, _ text: Substring) -> (text: String, weight: Double) {
        var parts = text.splitOutsideQuotes(at: .semicolon).map(\.trimmedOfBlanks)
        var weight = 1.0
        if parts.count > 1, let last = parts.last?.lowercased(), last.hasPrefix("q="),
            let own = Double(last.dropFirst(2)),
            (0...1).contains(own)
        {
            weight = own
            parts.removeLast()
        }
        if let first = parts.first { parts[0] = first.lowercased() }
        let member = parts.joined(separator: ";")
        return (name == "accept" ? member : member.lowercased(), weight)
    }
}

extension CacheVariant {
    /// Returns the entity tags that fit in one `If-None-Match` after the tag that it already has.
    static func sendable(_ tags: [String], after own: String?) -> [String] {
        var room = HTTPHeaders.validatorLimit - (own?.utf8.count ?? 0)
        return tags.filter { tag in
            guard tag.isEntityTag, tag.utf8.count + 2 <= room else { return false }
            room -= tag.utf8.count + 2
            return true
        }
    }
}
