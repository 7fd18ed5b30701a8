import Foundation

extension URL {
    /// Resolves what a server wrote as a reference by [RFC 3986 §5.2](https://www.rfc-editor.org/rfc/rfc3986#section-5.2).
    /// Nil when it makes no URL.
    init?(reference: String, relativeTo base: URL?) {
        guard !reference.isEmpty else {
            // The resource itself, without its fragment.
            guard let base else { return nil }
            self.init(string: String(base.absoluteString.prefix { $0 != "#" }))
            return
        }
        // Servers send blanks and bytes beyond ASCII there, which belong escaped.
        // A bracket may stand in a host alone; elsewhere it would make URL escape everything a second time.
        let slashes = reference.prefix { !"/?#".contains($0) }.endIndex
        let host =
            reference[slashes...].hasPrefix("//")
            ? reference[slashes...].dropFirst(2) : reference[reference.startIndex..<reference.startIndex]
        let rest = host.firstIndex { "/?#".contains($0) } ?? host.endIndex
        var escaped: [UInt8] = []
        escaped.appendEscapedOnce(reference.utf8[..<rest], allowed: .referenceHost)
        escaped.appendEscapedOnce(reference.utf8[rest...], allowed: .reference)
        guard let resolved = URL(string: String(decoding: escaped, as: UTF8.self), relativeTo: base)?.absoluteURL,
            resolved.scheme != nil
        else { return nil }
        // Resolving leaves the dots of a whole URL where they are; this takes them out (§5.2.4).
        self = URLText.fault(of: resolved) == nil ? resolved.standardized : resolved
    }
}

extension ASCIISet {
    fileprivate static let reference = query.union(ASCIISet("#"))
    fileprivate static let referenceHost = reference.union(ASCIISet("[]"))
}
