import Foundation

extension URL {
    /// Resolves what a server wrote as a reference by [RFC 3986 §5.2](https://www.rfc-editor.org/rfc/rfc3986#section-5.2).
    /// Nil when it makes no URL.
    package init?(reference: String, relativeTo base: URL?) {
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
        escaped.appendEscapedOnce(String(reference[..<rest]), allowed: .referenceHost)
        escaped.appendEscapedOnce(String(reference[rest...]), allowed: .reference)
        guard let resolved = URL(string: String(decoding: escaped, as: UTF8.self), relativeTo: base)?.absoluteURL,
            resolved.scheme != nil
        else { return nil }
        // Resolving leaves the dots of a whole URL where they are; this takes them out (§5.2.4).
        self = URLFault.of(resolved) == nil ? resolved.standardized : resolved
    }
}

extension URL {
    /// Resolves a `Location` by [RFC 3986 §5.2](https://www.rfc-editor.org/rfc/rfc3986#section-5.2), and odd slashes,
    /// blanks and control characters as browsers do ([URL §4.4](https://url.spec.whatwg.org/#url-parsing)): `///host` and
    /// `\\\\host` are `//host`. Nil when it makes no URL; `http:/host`, which programs read in several ways, makes none.
    package init?(location: String, relativeTo base: URL?) {
        var text = location.unicodeScalars.filter { !["\t", "\n", "\r"].contains($0) }[...]
        while let first = text.first, first.value <= 0x20 { text.removeFirst() }
        while let last = text.last, last.value <= 0x20 { text.removeLast() }
        let end = text.firstIndex { $0 == "?" || $0 == "#" } ?? text.endIndex
        var head = String.UnicodeScalarView(text[..<end].map { $0 == "\\" ? "/" : $0 })[...]
        let scheme = ["http:", "https:"].first { String(head.prefix($0.count)).equalsIgnoringCase($0) } ?? ""
        let start = head.prefix(scheme.count)
        head = head.dropFirst(scheme.count)
        if head.starts(with: "//".unicodeScalars) {
            head = head.drop { $0 == "/" }
            guard !head.isEmpty else { return nil }
            head = ("//".unicodeScalars + head)[...]
        }
        self.init(reference: String(start) + String(head) + String(text[end...]), relativeTo: base)
    }
}

extension ASCIISet {
    fileprivate static let reference = query.union(ASCIISet("#"))
    fileprivate static let referenceHost = reference.union(ASCIISet("[]"))
}
