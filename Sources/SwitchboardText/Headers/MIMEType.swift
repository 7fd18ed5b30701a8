import Foundation

/// Maps file extensions to media types.
package enum MIMEType {
    /// Returns the type for a file name's extension, or `application/octet-stream` for an unknown one.
    package static func forFile(named name: String) -> String {
        let ending = name.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last ?? ""
        return types[ending.lowercased()] ?? "application/octet-stream"
    }

    /// Parsed from one text, which compiles faster than a dictionary literal.
    private static let types = Dictionary(
        uniqueKeysWithValues: usual.split(separator: "\n").map { line in
            let words = line.split(separator: " ").map(String.init)
            return (words[0], words[1])
        })

    /// Common types, as in the [IANA registry](https://www.iana.org/assignments/media-types).
    private static let usual = """
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
