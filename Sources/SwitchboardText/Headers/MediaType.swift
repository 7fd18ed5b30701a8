import Foundation

extension String {
    /// The type and subtype of a `Content-Type` in lower case: `text/html` for `Text/HTML; charset=utf-8`.
    package var mediaType: String {
        String(decoding: utf8.prefix { $0 != .semicolon }.trimmedOfBlanks, as: UTF8.self).lowercased()
    }

    package var isForm: Bool { mediaType == "application/x-www-form-urlencoded" }

    /// The boundary of a `multipart` type, or nil for any other type.
    package var multipartBoundary: String? {
        mediaType.utf8.starts(withLowercase: "multipart/")
            ? mediaParameter("boundary").flatMap { $0.isEmpty ? nil : $0 } : nil
    }
}

extension String {
    /// Returns a parameter of a `Content-Type` without its quotes, or nil if it is missing.
    package func mediaParameter(_ name: String) -> String? {
        var field = FieldScanner(self)
        _ = field.text { $0 != .semicolon }
        while field.current == .semicolon {
            field.advance()
            let parameter = field.text { $0 != .equals && $0 != .semicolon }
            guard field.current == .equals else { continue }
            field.advance()
            field.skipBlanks()
            let quoted = field.current == .quote ? field.quotedString().text : nil
            let rest = field.text { $0 != .semicolon }
            if parameter.trimmedOfBlanks.lowercased() == name { return quoted ?? rest.trimmedOfBlanks }
        }
        return nil
    }

    /// The encoding of a `Content-Type` with a `charset` of UTF-16 or ISO 8859-1. Nil for any other type, whose text is UTF-8.
    package var charset: String.Encoding? {
        switch mediaParameter("charset")?.lowercased() {
        case "iso-8859-1", "latin1", "latin-1": .isoLatin1
        case "utf-16": .utf16
        case "utf-16be": .utf16BigEndian
        case "utf-16le": .utf16LittleEndian
        default: nil
        }
    }

    /// The names of a part in its `Content-Disposition`, which may be folded: `name`, and `name*` as in
    /// `name*=UTF-8''caf%C3%A9` ([RFC 8187](https://www.rfc-editor.org/rfc/rfc8187)).
    package var dispositionNames: [String] {
        let line = String(decoding: utf8.map { $0 == 0x0D || $0 == 0x0A ? 0x20 : $0 }, as: UTF8.self)
        let extended = line.mediaParameter("name*")?.pieces(between: .apostrophe).last?.percentDecoded
        return [line.mediaParameter("name"), extended].compactMap { $0 }
    }
}

/// Maps file extensions to media types.
package enum MIMEType {
    /// Returns the type for a file name's extension, or `application/octet-stream` for an unknown one.
    package static func forFile(named name: String) -> String {
        let ending = name.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last ?? ""
        return types[ending.lowercased()] ?? "application/octet-stream"
    }

    /// Parsed from one text, which compiles faster than a dictionary literal.
    private static let types = Dictionary(
        uniqueKeysWithValues: table.split(separator: "\n").map { line in
            let words = line.split(separator: " ").map(String.init)
            return (words[0], words[1])
        })

    /// Common types, most as in the [IANA registry](https://www.iana.org/assignments/media-types).
    private static let table = """
        aac audio/aac
        avif image/avif
        bmp image/bmp
        css text/css
        csv text/csv
        doc application/msword
        docx application/vnd.openxmlformats-officedocument.wordprocessingml.document
        epub application/epub+zip
        gif image/gif
        gz application/gzip
        heic image/heic
        heif image/heif
        htm text/html
        html text/html
        ico image/vnd.microsoft.icon
        ics text/calendar
        jpeg image/jpeg
        jpg image/jpeg
        js text/javascript
        json application/json
        m4a audio/mp4
        md text/markdown
        mjs text/javascript
        mov video/quicktime
        mp3 audio/mpeg
        mp4 video/mp4
        mpeg video/mpeg
        oga audio/ogg
        ogg audio/ogg
        ogv video/ogg
        otf font/otf
        pdf application/pdf
        png image/png
        ppt application/vnd.ms-powerpoint
        pptx application/vnd.openxmlformats-officedocument.presentationml.presentation
        rtf application/rtf
        svg image/svg+xml
        tar application/x-tar
        tif image/tiff
        tiff image/tiff
        ttf font/ttf
        txt text/plain
        vcf text/vcard
        wasm application/wasm
        wav audio/wav
        weba audio/webm
        webm video/webm
        webp image/webp
        woff font/woff
        woff2 font/woff2
        xhtml application/xhtml+xml
        xls application/vnd.ms-excel
        xlsx application/vnd.openxmlformats-officedocument.spreadsheetml.sheet
        xml application/xml
        yaml application/yaml
        yml application/yaml
        zip application/zip
        """
}

extension Data {
    /// Returns the text in the encoding of a `Content-Type`. Nil for bytes that are not valid in it.
    package func text(inCharset charset: String.Encoding) -> String? {
        var (bytes, charset) = (self, charset)
        if charset == .utf16 {
            // Without a byte-order mark, the first byte is the high one (RFC 2781 §4.3).
            let isLittle = starts(with: [0xFF, 0xFE])
            if isLittle || starts(with: [0xFE, 0xFF]) { bytes.removeFirst(2) }
            charset = isLittle ? .utf16LittleEndian : .utf16BigEndian
        }
        guard charset == .isoLatin1 || bytes.count.isMultiple(of: 2) else { return nil }
        return String(data: bytes, encoding: charset)
    }
}
