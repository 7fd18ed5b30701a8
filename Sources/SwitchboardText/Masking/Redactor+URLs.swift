import Foundation

extension Redactor {
    /// Redacts the values of secret parameters in a URL's text, and any password before the host.
    package func url(_ text: String) -> String {
        guard !isEmpty else { return text }
        var text = tokens(in: text)
        if let user = text.userInfo { text.replaceSubrange(user, with: mask) }
        let hash = text.utf8.firstIndex(of: .numberSign) ?? text.endIndex
        let fragment = hash == text.endIndex ? "" : "#" + form(String(text[text.utf8.index(after: hash)...]))
        guard let question = text.utf8[..<hash].firstIndex(of: .questionMark) else {
            return path(text[..<hash]) + fragment
        }
        let query = text.utf8.index(after: question)
        return path(text[..<question]) + "?" + form(String(text[query..<hash])) + fragment
    }

    /// Redacts the values of secret parameters in the segments of a path: `/list;jsessionid=…/1`.
    private func path(_ text: Substring) -> String {
        guard text.utf8.contains(.semicolon) else { return String(text) }
        return text.pieces(between: .slash).map { segment in
            let pieces = segment.pieces(between: .semicolon)
            return ([String(pieces[0])] + pieces.dropFirst().map(pair)).joined(separator: ";")
        }.joined(separator: "/")
    }

    /// Redacts the values of secret names in a query or a form.
    package func form(_ text: String) -> String {
        guard !isEmpty else { return text }
        return tokens(in: text).pieces(between: .ampersand).map(pair).joined(separator: "&")
    }

    private func pair(_ pair: Substring) -> String {
        guard let equals = pair.utf8.firstIndex(of: .equals) else { return String(pair) }
        let value = pair.utf8.index(after: equals)
        let written = String(pair[..<equals]).replacingBytes([.plus: " "])
        if isSecret(parameter: written.decodedName) { return pair[..<value] + mask }
        // Some servers treat a semicolon like an ampersand. Text after the semicolon of a secret may belong to the
        // secret.
        let pieces = pair[value...].pieces(between: .semicolon)
        var result = pair[..<value] + nested(String(pieces[0]), depth: 3)
        for piece in pieces.dropFirst() {
            if let equals = piece.utf8.firstIndex(of: .equals),
                isSecret(parameter: String(piece[..<equals]).decodedName)
            {
                return result + ";" + piece[..<piece.utf8.index(after: equals)] + mask
            }
            result += ";" + nested(String(piece), depth: 3)
        }
        return String(result)
    }

    /// Returns the pieces of a list of WebSocket subprotocols, with its credentials redacted. Clients that cannot set
    /// header fields put them after a name (`bearer, …`) or into a name (`base64url.bearer.authorization.k8s.io.…`).
    func protocols(_ list: String) -> [String] {
        let pieces = list.pieces(between: .comma)
        guard !isEmpty else { return pieces.map(String.init) }
        var isAfterName = false
        return pieces.map { piece in
            let name = piece.utf8.trimmedOfBlanks
            let isNamed = isSecret(parameter: String(decoding: name, as: UTF8.self))
            let isWhole = isNamed && !name.contains(.dot) && name.count <= 32
            defer { isAfterName = isAfterName || isNamed }
            guard !name.isEmpty, isAfterName || isNamed && !isWhole || name.count > 48 else { return String(piece) }
            return String(decoding: piece.utf8[..<name.startIndex], as: UTF8.self) + mask
        }
    }

    /// Redacts a URL or a query inside a value, escaped or not: `next=https%3A%2F%2Fh%2F%3Ftoken%3D…`, `next=/a?token=…`.
    private func nested(_ value: String, depth: Int) -> String {
        let value = pairs(in: value)
        guard depth > 0, value.utf8.contains(.percent) else { return value }
        let text = value.percentDecoded
        guard text != value else { return value }
        let masked = nested(text, depth: depth - 1)
        guard masked != text else { return value }
        return masked.components(separatedBy: mask).map { $0.percentEncoded() }.joined(separator: mask)
    }
}

extension String {
    /// The URL with its secrets masked, in quotes, on one line and with at most 80 characters.
    package var quotedURLForMessage: String { Redactor.standard.url(self).quotedForMessage }
}
