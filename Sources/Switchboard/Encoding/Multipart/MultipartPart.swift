import Foundation
import SwitchboardText

extension MultipartBody {
    /// One part of a form: a field, or a file.
    public struct Part: Sendable {
        /// The name of the form's field.
        public let name: String
        /// The file's name as the server hears it; nil for a field.
        public let fileName: String?
        /// Header fields of the part besides `Content-Disposition`; `Content-Type` above all.
        public let headers: HTTPHeaders
        let content: any HTTPBody

        init(name: String, fileName: String?, headers: HTTPHeaders, content: any HTTPBody) {
            self.name = name
            self.fileName = fileName
            self.headers = headers
            self.content = content
        }

        /// A text field. Its line ends become CRLF, as in a browser's form ([HTML
        /// §4.10.21.8](https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data)).
        public static func field(_ name: String, _ value: String) -> Part {
            Part(name: name, fileName: nil, headers: [:], content: DataBody(Data(value.withCRLF.utf8)))
        }

        /// Bytes at hand, unchanged.
        ///
        /// - Parameters:
        ///   - name: The name of the form's field.
        ///   - data: The bytes.
        ///   - fileName: The file's name; nil, the default, for a field that is no file.
        ///   - contentType: Nil, the default, for the type that the file's name suggests, and none without a file.
        /// - Returns: The part.
        public static func data(
            _ name: String, _ data: Data, fileName: String? = nil, contentType: String? = nil
        ) -> Part {
            let type = contentType ?? fileName.map(MIMEType.forFile(named:))
            return Part(name: name, fileName: fileName, headers: HTTPHeaders(type: type), content: DataBody(data))
        }

        /// A file, read while it is sent.
        ///
        /// - Parameters:
        ///   - name: The name of the form's field.
        ///   - url: The file.
        ///   - fileName: What the server hears; nil, the default, for the file's own name.
        ///   - contentType: Nil, the default, for the type that the name suggests.
        /// - Returns: The part.
        public static func file(
            _ name: String, _ url: URL, fileName: String? = nil, contentType: String? = nil
        ) -> Part {
            let shown = fileName ?? url.lastPathComponent
            let type = contentType ?? MIMEType.forFile(named: shown)
            return Part(name: name, fileName: shown, headers: HTTPHeaders(type: type), content: FileBody(url))
        }

        /// Bytes that are made while they are sent, or any other body: a ``JSONBody`` brings its own `Content-Type`.
        ///
        /// - Parameters:
        ///   - name: The name of the form's field.
        ///   - body: The content. When its length is not known, neither is that of the whole, which is then sent in
        ///     chunks; when it cannot be sent twice, neither can the whole.
        ///   - fileName: The file's name; nil, the default, for a field that is no file.
        ///   - contentType: Nil, the default, for that of the body.
        /// - Returns: The part.
        public static func body(
            _ name: String, _ body: any HTTPBody, fileName: String? = nil, contentType: String? = nil
        ) -> Part {
            let type = contentType ?? body.additionalHeaders["Content-Type"]
            return Part(name: name, fileName: fileName, headers: HTTPHeaders(type: type), content: body)
        }
    }
}

extension MultipartBody.Part {
    /// The part with its content encoded, where that is in memory and tells no length: once, for all who ask for the
    /// length and send it. One that cannot be encoded says so when it is sent.
    var encodedOnce: MultipartBody.Part {
        guard !content.isEmpty, !content.isStreamed, content.length == nil, let data = try? content.encode() else {
            return self
        }
        return MultipartBody.Part(name: name, fileName: fileName, headers: headers, content: DataBody(data))
    }

    /// The file's path when its content is a file that cannot be read now.
    var unreadableFile: String? {
        guard let file = content as? FileBody, !file.isReadable else { return nil }
        return file.url.path
    }

    /// `Content-Disposition` and the other fields, with the empty line behind them.
    ///
    /// In names a quotation mark, CR and LF become `%22`, `%0D` and `%0A`, and nothing else changes: the bytes of UTF-8
    /// go out as they are ([HTML, multipart/form-data encoding
    /// algorithm](https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data)).
    func head() throws(NetworkError) -> Data {
        try headers.validate()
        var text = "Content-Disposition: form-data; name=\"\(name.withCRLF.escapedForDisposition)\""
        if let fileName { text += "; filename=\"\(fileName.escapedForDisposition)\"" }
        for field in headers { text += "\r\n\(field.name): \(field.value)" }
        return Data("\(text)\r\n\r\n".utf8)
    }
}

extension FileBody {
    /// Whether the file is there and may be read.
    fileprivate var isReadable: Bool {
        length != nil && FileManager.default.isReadableFile(atPath: url.path)
    }
}

extension HTTPHeaders {
    fileprivate init(type: String?) {
        self.init()
        if let type { add("Content-Type", type) }
    }
}

extension String {
    fileprivate var escapedForDisposition: String {
        var bytes: [UInt8] = []
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += "%22".utf8
            case UInt8(ascii: "\r"): bytes += "%0D".utf8
            case UInt8(ascii: "\n"): bytes += "%0A".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text with every line end as CRLF: lone CR and lone LF too.
    fileprivate var withCRLF: String {
        var bytes: [UInt8] = []
        var isBehindCR = false
        for byte in utf8 {
            if byte == UInt8(ascii: "\n"), !isBehindCR { bytes.append(UInt8(ascii: "\r")) }
            if isBehindCR, byte != UInt8(ascii: "\n") { bytes.append(UInt8(ascii: "\n")) }
            bytes.append(byte)
            isBehindCR = byte == UInt8(ascii: "\r")
        }
        if isBehindCR { bytes.append(UInt8(ascii: "\n")) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
