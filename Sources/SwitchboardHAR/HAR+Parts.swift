import Foundation
import Switchboard

extension HAR {
    /// A part of an exchange that may contain secrets.
    package enum Part {
        case url
        /// The value of a header field or a trailer.
        case field(name: String)
        /// The value of a cookie of `Cookie` or `Set-Cookie`.
        case cookie(of: String)
        /// A cookie's path, the type of a body, an HTTP version or an address.
        case attribute
        case body(type: String)
    }

    package typealias Replacement = (Part, Data) -> Data
}

extension HAR.Entry {
    package func replacingParts(_ replace: HAR.Replacement) -> HAR.Entry {
        var entry = self
        entry.request = request.replacingParts(replace)
        entry.response.replaceParts(replace)
        entry.serverIPAddress = serverIPAddress.map { text($0, .attribute, replace) }
        for index in entry.webSocketMessages?.indices ?? 0..<0 {
            let payload = entry.webSocketMessages?[index].payload ?? Data()
            let replaced = replace(.body(type: ""), payload)
            if replaced != payload { entry.webSocketMessages?[index].payload = replaced }
        }
        return entry
    }
}

extension HAR.Request {
    package func replacingParts(_ replace: HAR.Replacement) -> HAR.Request {
        var request = self
        request.url = text(url, .url, replace)
        request.httpVersion = text(httpVersion, .attribute, replace)
        request.queryString = HAR.Field.query(of: request.url)
        request.headers = headers.replacing(replace)
        request.cookies = cookies.replacing(replace, of: "Cookie")
        guard let body = postData else { return request }
        let header = request.headers.first { $0.name.lowercased() == "content-type" }?.value ?? ""
        let data = replace(.body(type: body.mimeType.isEmpty ? header : body.mimeType), body.data)
        if data != body.data { request.postData = HAR.PostData(data, mimeType: body.mimeType) }
        request.postData?.mimeType = text(body.mimeType, .attribute, replace)
        return request
    }
}

extension HAR.Response {
    fileprivate mutating func replaceParts(_ replace: HAR.Replacement) {
        httpVersion = text(httpVersion, .attribute, replace)
        headers = headers.replacing(replace)
        trailers = trailers?.replacing(replace)
        redirectURL = text(redirectURL, .url, replace)
        cookies = cookies.replacing(replace, of: "Set-Cookie")
        let data = replace(.body(type: content.mimeType), content.data)
        if data != content.data { content = HAR.Content(data, mimeType: content.mimeType, size: content.size) }
        content.mimeType = text(content.mimeType, .attribute, replace)
    }
}

extension [HAR.Field] {
    fileprivate func replacing(_ replace: HAR.Replacement) -> [HAR.Field] {
        map { HAR.Field(name: $0.name, value: text($0.value, .field(name: $0.name), replace)) }
    }
}

extension [HAR.Cookie] {
    fileprivate func replacing(_ replace: HAR.Replacement, of header: String) -> [HAR.Cookie] {
        map { cookie in
            var cookie = cookie
            cookie.value = text(cookie.value, .cookie(of: header), replace)
            cookie.path = cookie.path.map { text($0, .attribute, replace) }
            return cookie
        }
    }
}

private func text(_ text: String, _ part: HAR.Part, _ replace: HAR.Replacement) -> String {
    let data = Data(text.utf8)
    let replaced = replace(part, data)
    return replaced == data ? text : String(decoding: replaced, as: UTF8.self)
}
