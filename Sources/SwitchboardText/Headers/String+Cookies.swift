extension String {
    /// The cookies of a text that joins them with commas. A comma separates two cookies if a name and `=` follow it,
    /// unlike the comma in `Expires=Wed, 21 Oct 2026`.
    package var splitIntoCookies: [String] {
        var cookies: [String] = []
        var start = startIndex
        var index = startIndex
        while let comma = utf8[index...].firstIndex(of: .comma) {
            index = utf8.index(after: comma)
            let rest = utf8[index...].drop { $0 == .space }
            let name = rest.prefix { $0 != .equals && $0 != .semicolon && $0 != .comma && $0 != .space }
            if name.isHTTPToken, rest[name.endIndex...].first == .equals {
                cookies.append(String(self[start..<comma]))
                start = rest.startIndex
            }
        }
        return cookies + [String(self[start...])]
    }
}
