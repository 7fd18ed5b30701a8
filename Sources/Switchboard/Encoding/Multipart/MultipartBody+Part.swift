import Foundation
import SwitchboardText

extension MultipartBody {
    /// One part of a form: a field or a file.
    public struct Part: Sendable {
        /// The name of the form field.
        public let name: String
        /// The file name sent to the server. Nil for a field.
        public let fileName: String?
        /// Header fields of the part besides `Content-Disposition`, such as `Content-Type`.
        public let headers: HTTPHeaders
        private(set) var content: any HTTPBody
        /// The content before it was encoded, if the encoder of the request may replace that encoding.
        private var json: JSONBody?

        private init(_ name: String, _ fileName: String?, type: String?, _ content: any HTTPBody) {
            self.name = name
            self.fileName = fileName
            headers = type.map { [.contentType($0)] } ?? [:]
            self.content = content
        }

        /// Returns a text field. Its line ends become CRLF, as in a browser's form ([HTML
        /// §4.10.21.8](https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data)).
        public static func field(_ name: String, _ value: String) -> Part {
            Part(name, nil, type: nil, DataBody(Data(value.withCRLF.utf8)))
        }

        /// Returns a part with bytes in memory, sent unchanged.
        ///
        /// - Parameters:
        ///   - name: The name of the form field.
        ///   - data: The bytes.
        ///   - fileName: The file name. Nil, the default, makes a plain field.
        ///   - contentType: The media type. Nil, the default, selects the type of the file name's extension, or none
        ///     without a file name.
        /// - Returns: The part.
        public static func data(
            _ name: String, _ data: Data, fileName: String? = nil, contentType: String? = nil
        ) -> Part {
            Part(name, fileName, type: contentType ?? fileName.map(MIMEType.forFile(named:)), DataBody(data))
        }

        /// Returns a part with a file that is read while it is sent.
        ///
        /// - Parameters:
        ///   - name: The name of the form field.
        ///   - url: The file.
        ///   - fileName: The file name sent to the server. Nil, the default, selects the file's own name.
        ///   - contentType: The media type. Nil, the default, selects the type of the file name's extension.
        /// - Returns: The part.
        public static func file(
            _ name: String, _ url: URL, fileName: String? = nil, contentType: String? = nil
        ) -> Part {
            let fileName = fileName ?? url.lastPathComponent
            return Part(name, fileName, type: contentType ?? MIMEType.forFile(named: fileName), FileBody(url))
        }

        /// Returns a part with any body, such as a stream. A ``JSONBody`` sets its own `Content-Type`.
        ///
        /// - Parameters:
        ///   - name: The name of the form field.
        ///   - body: The content. If its length is unknown, the length of the form is unknown too. If it cannot be sent
        ///     again, the form cannot be sent again either.
        ///   - fileName: The file name. Nil, the default, makes a plain field.
        ///   - contentType: The media type. Nil, the default, selects that of the body.
        /// - Returns: The part.
        public static func body(
            _ name: String, _ body: any HTTPBody, fileName: String? = nil, contentType: String? = nil
        ) -> Part {
            Part(name, fileName, type: contentType ?? body.additionalHeaders["Content-Type"], body)
        }
    }
}

extension MultipartBody.Part {
    /// The part with its content encoded, if the content is in memory and its length is unknown, so that the length and
    /// the form encode it only once. Content that cannot be encoded fails when it is sent.
    var encodedOnce: MultipartBody.Part {
        guard !content.isEmpty, !content.isStreamed, content.length == nil, let data = try? content.encode() else {
            return self
        }
        var part = self
        part.content = DataBody(data)
        part.json = content as? JSONBody
        return part
    }

    /// Returns the part with this encoder, if its content is a ``JSONBody`` without an encoder.
    func withEncoder(_ encoder: any RequestEncoder) -> MultipartBody.Part {
        guard let json = self.json ?? (content as? JSONBody), json.encoder == nil else { return self }
        var part = self
        part.content = json.withEncoder(encoder)
        return part.encodedOnce
    }

    /// The path of the file if the content is a file that cannot be read now.
    var unreadableFile: String? {
        guard let file = content as? FileBody else { return nil }
        let isReadable = file.length != nil && FileManager.default.isReadableFile(atPath: file.url.path)
        return isReadable ? nil : file.url.path
    }

    /// Returns the part's header: `Content-Disposition`, the other fields and the empty line.
    ///
    /// In names, a quotation mark, CR and LF become `%22`, `%0D` and `%0A`. Everything else is sent as unchanged UTF-8
    /// ([HTML, multipart/form-data encoding
    /// algorithm](https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data)).
    func head() throws(NetworkError) -> Data {
        try headers.validate()
        var text = "Content-Disposition: form-data; name=\"\(name.withCRLF.escapedForDisposition)\""
        if let fileName { text += "; filename=\"\(fileName.escapedForDisposition)\"" }
        for field in headers { text += "\r\n\(field.name): \(field.value)" }
        return Data("\(text)\r\n\r\n".utf8)
    }
}

extension String {
    fileprivate var escapedForDisposition: String {
        replacingBytes([.quote: "%22", .carriageReturn: "%0D", .lineFeed: "%0A"])
    }

    /// The text with every line end as CRLF, including a lone CR or LF.
    fileprivate var withCRLF: String {
        var bytes: [UInt8] = []
        var isAfterCR = false
        for byte in utf8 {
            if byte == .lineFeed, !isAfterCR { bytes.append(.carriageReturn) }
            if isAfterCR, byte != .lineFeed { bytes.append(.lineFeed) }
            bytes.append(byte)
            isAfterCR = byte == .carriageReturn
        }
        if isAfterCR { bytes.append(.lineFeed) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
