import Switchboard

// The fields that a cassette needs must be present and valid. Any other field may be missing, null, or of another type.

extension HAR.Log {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        // No session sends the requests removed here, or a browser never received their answer.
        entries = try container.decode([HAR.Entry].self, forKey: .entries).map(\.withHandshakeScheme).filter {
            $0.response.status > 0 && $0.request.url.lowercased().hasPrefix("http")
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
        serverIPAddress = address.isEmpty ? nil : address.withoutBrackets
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
        redirectURL = container.lenient(.redirectURL) ?? ""
        bodySize = container.lenient(.bodySize) ?? -1
        trailers = try container.decodeIfPresent([HAR.Field].self, forKey: .trailers)
    }
}

extension HAR.PostData {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        mimeType = container.lenient(.mimeType) ?? ""
        text = try container.decodeIfPresent(String.self, forKey: .text)
        encoding = container.lenient(.encoding)
        params = container.lenient(.params)
        try checkText(encoding: encoding, text: text, container, .text)
    }
}

extension HAR.Content {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        size = container.lenient(.size) ?? 0
        mimeType = container.lenient(.mimeType) ?? ""
        text = try container.decodeIfPresent(String.self, forKey: .text)
        encoding = container.lenient(.encoding)
        try checkText(encoding: encoding, text: text, container, .text)
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
    /// Returns the fields as they are sent: without HTTP/2's pseudo-fields, and with the values separated that a
    /// browser joined with line breaks.
    fileprivate static func sent(_ fields: [HAR.Field]?) -> [HAR.Field] {
        (fields ?? []).filter { !$0.name.hasPrefix(":") }.flatMap { field in
            guard field.value.contains(where: \.isNewline) else { return [field] }
            return field.value.split(whereSeparator: \.isNewline).map {
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
}

private func checkText<Key>(
    encoding: String?, text: String?, _ container: KeyedDecodingContainer<Key>, _ key: Key
) throws {
    guard let text, encoding == "base64", HARText.data(text, encoding: "base64", type: "") == nil else { return }
    throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "it is not base64")
}

extension String {
    /// The address without brackets: `::1` for `[::1]`.
    fileprivate var withoutBrackets: String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
}
