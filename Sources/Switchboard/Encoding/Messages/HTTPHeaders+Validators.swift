import Foundation
import SwitchboardText

// The validators of a response, for conditional requests and requests of a range.
extension HTTPHeaders {
    /// The largest validator that is sent, in bytes. Servers refuse requests with more than about 8 KiB of fields.
    package static let validatorLimit = 4_096

    /// The value for `If-Range`: a strong entity tag, or a modification date at least a second older than the response
    /// ([RFC 9110 §8.8](https://www.rfc-editor.org/rfc/rfc9110#section-8.8)). Nil without either, when a field occurs
    /// twice, and for a tag that is too long to be sent.
    package var strongValidator: String? {
        let tags = values(for: "ETag")
        guard tags.isEmpty else {
            return tags.count == 1 && !tags[0].hasPrefix("W/") && tags[0].isEntityTag
                && tags[0].utf8.count <= Self.validatorLimit ? tags[0] : nil
        }
        let (modified, sent) = (values(for: "Last-Modified"), values(for: "Date"))
        guard modified.count == 1, sent.count == 1, let modifiedDate = HTTPDate.parse(modified[0]),
            let sentDate = HTTPDate.parse(sent[0]), sentDate.timeIntervalSince(modifiedDate) >= 1
        else { return nil }
        return modified[0]
    }

    /// Whether the body has a coding, which a session decodes. A `Content-Range` then counts encoded bytes.
    package var isEncoded: Bool {
        !values(for: "Content-Encoding").allSatisfy { $0.equalsIgnoringCase("identity") }
    }
}

extension String {
    /// Whether the text is an entity tag, weak or strong ([RFC 9110
    /// §8.8.3](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3)).
    package var isEntityTag: Bool {
        let opaque = utf8.starts(with: "W/".utf8) ? utf8.dropFirst(2) : utf8[...]
        guard opaque.count > 1, opaque.first == .quote, opaque.last == .quote else { return false }
        return opaque.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x7F }
    }
}
