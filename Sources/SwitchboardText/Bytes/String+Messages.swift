extension String {
    package var trimmedOfBlanks: String {
        guard utf8.first?.isBlank == true || utf8.last?.isBlank == true else { return self }
        return String(decoding: utf8.trimmedOfBlanks, as: UTF8.self)
    }

    /// The text in quotes, on one line and with at most 80 characters.
    package var quotedForMessage: String {
        let short = unicodeScalars.prefix(80)
        let text = short.map { $0.breaksLine ? $0.escaped(asASCII: true) : String($0) }.joined()
        return "\"\(text)\(short.endIndex == unicodeScalars.endIndex ? "" : "…")\""
    }
}

extension Unicode.Scalar {
    fileprivate var breaksLine: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
