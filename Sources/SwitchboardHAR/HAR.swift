import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardText

/// The parts of an HTTP archive, [version 1.2](http://www.softwareishard.com/blog/har-12-spec/), that a cassette needs.
///
/// Decoding accepts archives of browsers: it skips unknown fields, and most fields may be missing. Encoding writes
/// every field that the format requires.
package struct HAR: Codable, Sendable {
    package var log: Log

    package init(log: Log) {
        self.log = log
    }

    package struct Log: Codable, Sendable {
        package var version = "1.2"
        package var creator = Creator()
        package var entries: [Entry]

        package init(entries: [Entry]) {
            self.entries = entries
        }
    }

    package struct Creator: Codable, Sendable {
        package var name = "Switchboard"
        package var version = "1"
    }

    /// One exchange.
    package struct Entry: Codable, Sendable {
        /// The start in ISO 8601, with milliseconds in archives of this package.
        package var startedDateTime: String
        /// The duration in milliseconds: the sum of ``timings``.
        package var time: Double
        package var request: Request
        package var response: Response
        package var cache = Cache()
        package var timings: Timings
        package var serverIPAddress: String?
        /// `websocket` for a WebSocket, as browsers write it. Nil otherwise.
        package var resourceType: String?
        /// The messages of a WebSocket, in the order of their times. Nil otherwise.
        package var webSocketMessages: [WebSocketMessage]?

        enum CodingKeys: String, CodingKey {
            case startedDateTime, time, request, response, cache, timings, serverIPAddress
            case resourceType = "_resourceType"
            case webSocketMessages = "_webSocketMessages"
        }
    }

    /// The cache's state, always unknown.
    package struct Cache: Codable, Sendable {}

    package struct Request: Codable, Sendable {
        package var method: String
        package var url: String
        package var httpVersion: String
        package var cookies: [Cookie]
        package var headers: [Field]
        package var queryString: [Field]
        package var postData: PostData?
        package var headersSize = -1
        package var bodySize: Int
    }

    package struct Response: Codable, Sendable {
        package var status: Int
        package var statusText: String
        package var httpVersion: String
        package var cookies: [Cookie]
        package var headers: [Field]
        package var content: Content
        package var redirectURL: String
        package var headersSize = -1
        package var bodySize: Int
        /// The fields after a chunked body, for which the format has no field. Nil without any.
        package var trailers: [Field]?
        /// The reason why the response is missing or incomplete, as browsers write it. Nil for a complete one.
        package var error: String?

        enum CodingKeys: String, CodingKey {
            case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
            case trailers = "_trailers"
            case error = "_error"
        }
    }

    /// A header field, or a pair of a query.
    package struct Field: Codable, Sendable, Hashable {
        package var name: String
        package var value: String
    }

    package struct Cookie: Codable, Sendable {
        package var name: String
        package var value: String
        package var path: String?
        package var domain: String?
        package var httpOnly: Bool?
        package var secure: Bool?
    }

    /// The body of a request.
    package struct PostData: Codable, Sendable {
        package var mimeType: String
        package var text: String?
        /// `base64` for bytes that are not text. The format defines this field for responses only.
        package var encoding: String?
        /// The pairs of a form, which some browsers write in place of the text. This package never writes them: the
        /// format excludes text and pairs together.
        package var params: [Field]?

        enum CodingKeys: String, CodingKey {
            case mimeType, text, params
            case encoding = "_encoding"
        }
    }

    /// The body of a response, without its content encoding.
    package struct Content: Codable, Sendable {
        /// The size of the decoded body in bytes, before its secrets were replaced. -1 for an unknown one, as in
        /// Firefox.
        package var size: Int
        package var mimeType: String
        /// The text. Nil without a body, or when a browser did not store it.
        package var text: String?
        /// `base64` for bytes that are not text.
        package var encoding: String?
    }

    /// The times of an exchange, in milliseconds; -1 for an unknown one.
    package struct Timings: Codable, Sendable {
        package var blocked: Double = -1
        package var dns: Double = -1
        /// The time to connect, including ``ssl``.
        package var connect: Double = -1
        package var send: Double = 0
        package var wait: Double = 0
        package var receive: Double = 0
        package var ssl: Double = -1
    }
}

extension HAR {
    /// A message of a WebSocket, as browsers write it into `_webSocketMessages`.
    package struct WebSocketMessage: Codable, Sendable, Hashable {
        /// `send`, `receive`, or `error` for a lost connection.
        package var type: String
        /// The time in seconds since 1970.
        package var time: Double
        /// The opcode of RFC 6455 §5.2: 1 for text, 2 for binary data, 8 for a Close frame; -1 for an error.
        package var opcode: Int
        /// The text, or the bytes in base64 for any other opcode than 1.
        package var data: String

        package init(type: String, opcode: Int, payload: Data, at date: Date = Date()) {
            self.type = type
            self.opcode = opcode
            // Milliseconds, as of the other dates of an archive.
            time = (date.timeIntervalSince1970 * 1_000).rounded() / 1_000
            data = Self.text(payload, opcode)
        }

        /// Creates the entry of a message that a monitor received.
        package init(_ kind: CallMessage.Kind, isSent: Bool, payload: Data, at date: Date = Date()) {
            let opcode =
                switch kind {
                case .binary: 2
                case .close: 8
                default: 1
                }
            self.init(type: isSent ? "send" : "receive", opcode: opcode, payload: payload, at: date)
        }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            type = try container.decode(String.self, forKey: .type)
            time = container.lenient(.time) ?? 0
            opcode = container.lenient(.opcode) ?? 1
            data = container.lenient(.data) ?? ""
        }

        /// The bytes of the message. Empty for damaged base64.
        package var payload: Data {
            get { opcode == 1 || opcode == -1 ? Data(data.utf8) : Data(base64Encoded: data) ?? Data() }
            set { data = Self.text(newValue, opcode) }
        }

        private static func text(_ payload: Data, _ opcode: Int) -> String {
            opcode == 1 || opcode == -1 ? String(decoding: payload, as: UTF8.self) : payload.base64EncodedString()
        }
    }
}

extension [HAR.WebSocketMessage] {
    /// The messages for a stub. They lack those that the client received after its own Close frame: a stub answers that
    /// frame, and the client delivers no later message.
    package var forStub: [HAR.WebSocketMessage] {
        guard let close = firstIndex(where: { $0.type == "send" && $0.opcode == 0x8 }) else { return self }
        return Array(self[..<close]) + self[close...].filter { $0.type != "receive" }
    }
}

extension HAR.Entry {
    /// The entry with the scheme that browsers write: `wss` and `ws` for a WebSocket.
    package var withWebSocketScheme: HAR.Entry {
        guard webSocketMessages != nil, request.url.lowercased().hasPrefix("http") else { return self }
        var entry = self
        entry.request.url = "ws" + request.url.dropFirst(4)
        entry.resourceType = "websocket"
        return entry
    }

    /// The entry with the scheme of the handshake: `https` and `http`.
    var withHandshakeScheme: HAR.Entry {
        guard request.url.lowercased().hasPrefix("ws") else { return self }
        var entry = self
        entry.request.url = "http" + request.url.dropFirst(2)
        if entry.webSocketMessages == nil { entry.webSocketMessages = [] }
        return entry
    }
}

// MARK: - Decoding

// The fields that a cassette needs must be present and valid. Any other field may be missing, null, or of another type.

extension HAR {
    /// Reads the entries of a file, which `name` describes in the reason of an error.
    package static func read(_ file: URL, _ name: String, or code: NetworkError.Code) throws(NetworkError) -> [Entry] {
        var data = Data()
        do {
            data = try Data(contentsOf: file)
            return try FastJSONDecoder().decode(HAR.self, from: data).log.entries
        } catch {
            let text =
                error is DecodingError
                ? DecodingFailure.describe(error, in: data, called: "the file") : error.localizedDescription
            throw NetworkError(code, reason: "\(name) cannot be read: \(text)", underlying: error)
        }
    }
}

extension HAR.Log {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        // No session sends the requests removed here, or their answer never arrived, or only a part of it.
        entries = try container.decode([HAR.Entry].self, forKey: .entries).map(\.withHandshakeScheme).filter {
            $0.response.status > 0 && ($0.response.error ?? "").isEmpty
                && $0.request.url.lowercased().hasPrefix("http")
        }
    }
}

extension HAR.Entry {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        startedDateTime = container.lenient(.startedDateTime) ?? "1970-01-01T00:00:00.000Z"
        time = container.lenient(.time) ?? 0
        request = try container.decode(HAR.Request.self, forKey: .request)
        response = try container.decode(HAR.Response.self, forKey: .response)
        timings = container.lenient(.timings) ?? HAR.Timings()
        let address: String = container.lenient(.serverIPAddress) ?? ""
        let bare = address.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        serverIPAddress = bare.isEmpty ? nil : bare
        webSocketMessages = try container.decodeIfPresent([HAR.WebSocketMessage].self, forKey: .webSocketMessages)
    }
}

extension HAR.Request {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        method = try container.decode(String.self, forKey: .method)
        url = try container.decode(String.self, forKey: .url)
        httpVersion = container.lenient(.httpVersion) ?? "unknown"
        cookies = container.lenient(.cookies) ?? []
        headers = HAR.Field.sent(try container.decodeIfPresent([HAR.Field].self, forKey: .headers))
        queryString = container.lenient(.queryString) ?? []
        postData = try container.decodeIfPresent(HAR.PostData.self, forKey: .postData)
        bodySize = container.lenient(.bodySize) ?? -1
    }
}

extension HAR.Response {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        status = try container.decode(Int.self, forKey: .status)
        statusText = container.lenient(.statusText) ?? ""
        httpVersion = container.lenient(.httpVersion) ?? "unknown"
        cookies = container.lenient(.cookies) ?? []
        headers = HAR.Field.sent(try container.decodeIfPresent([HAR.Field].self, forKey: .headers))
        content =
            try container.decodeIfPresent(HAR.Content.self, forKey: .content) ?? HAR.Content(size: 0, mimeType: "")
        // Chrome writes the type without its charset.
        let type = HTTPHeaders(headers).contentType ?? ""
        if type.charset != nil, content.mimeType.mediaParameter("charset") == nil,
            type.mediaType == content.mimeType.mediaType
        {
            content.mimeType = type
        }
        redirectURL = container.lenient(.redirectURL) ?? ""
        bodySize = container.lenient(.bodySize) ?? -1
        trailers = try container.decodeIfPresent([HAR.Field].self, forKey: .trailers)
        error = container.lenient(.error)
    }
}

extension HAR.PostData {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        mimeType = container.lenient(.mimeType) ?? ""
        encoding = container.lenient(.encoding)
        text = try container.text(.text, encoding)
        params = container.lenient(.params)
    }
}

extension HAR.Content {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        size = container.lenient(.size) ?? 0
        mimeType = container.lenient(.mimeType) ?? ""
        encoding = container.lenient(.encoding)
        text = try container.text(.text, encoding)
    }
}

extension HAR.Timings {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        blocked = container.lenient(.blocked) ?? -1
        dns = container.lenient(.dns) ?? -1
        connect = container.lenient(.connect) ?? -1
        send = container.lenient(.send) ?? 0
        wait = container.lenient(.wait) ?? 0
        receive = container.lenient(.receive) ?? 0
        ssl = container.lenient(.ssl) ?? -1
    }
}

extension HAR.Field {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        // A pair of a form may lack it.
        value = try container.decodeIfPresent(String.self, forKey: .value) ?? ""
    }

    /// Returns the fields as they are sent: without HTTP/2's pseudo-fields, and with the values separated that a
    /// browser joined with line breaks.
    fileprivate static func sent(_ fields: [HAR.Field]?) -> [HAR.Field] {
        (fields ?? []).filter { !$0.name.hasPrefix(":") }.flatMap { field in
            guard field.value.utf8.contains(.lineFeed) else { return [field] }
            return field.value.split { $0 == "\n" || $0 == "\r\n" }.map {
                HAR.Field(name: field.name, value: String($0))
            }
        }
    }
}

extension KeyedDecodingContainer {
    /// Decodes a value, or returns nil when it is missing or of another type.
    fileprivate func lenient<Value: Decodable>(_ key: Key) -> Value? {
        try? decodeIfPresent(Value.self, forKey: key)
    }

    /// Decodes the text of a body, which must be base64 with that encoding.
    fileprivate func text(_ key: Key, _ encoding: String?) throws -> String? {
        let text = try decodeIfPresent(String.self, forKey: key)
        guard let text, encoding == "base64", HARText.data(text, encoding: "base64", type: "") == nil else {
            return text
        }
        throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "it is not base64")
    }
}
