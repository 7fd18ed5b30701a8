import Foundation
import Switchboard
import SwitchboardText

/// The request line and the header block of a request, checked as strictly as [RFC
/// 9112](https://www.rfc-editor.org/rfc/rfc9112) allows, to detect a client's mistakes.
struct RequestHead {
    /// The way to find the end of the body (RFC 9112 §6.3).
    enum Framing: Equatable {
        case length(Int)
        case chunked
    }

    let method: HTTPMethod
    let target: String
    let version: String
    let headers: HTTPHeaders

    init(_ bytes: Data) throws(RequestError) {
        var lines = try Self.lines(of: bytes)[...]
        (method, target, version) = try Self.requestLine(lines.popFirst() ?? [])
        headers = try Self.headers(lines)
        let hosts = headers.values(for: "Host")
        guard hosts.count == 1 || hosts.isEmpty && version == "HTTP/1.0" else {
            throw RequestError("a request of \(version) has exactly one Host (RFC 9112 §3.2)")
        }
        guard hosts.allSatisfy({ $0.utf8.allSatisfy(ASCIISet.hostAndPort.contains) }) else {
            throw RequestError("Host has a character that no host has (RFC 9110 §7.2)")
        }
    }

    var framing: Framing {
        get throws(RequestError) {
            let codings = headers.values(for: "Transfer-Encoding")
            let lengths = headers.values(for: "Content-Length")
            if !codings.isEmpty {
                guard lengths.isEmpty else {
                    throw RequestError("Content-Length and Transfer-Encoding exclude each other")
                }
                guard version != "HTTP/1.0" else { throw RequestError("HTTP/1.0 has no Transfer-Encoding") }
                guard codings.count == 1, codings[0].equalsIgnoringCase("chunked") else {
                    throw RequestError(501, "the only Transfer-Encoding here is chunked")
                }
                return .chunked
            }
            guard let text = lengths.first else { return .length(0) }
            let isNumber = !text.isEmpty && text.utf8.allSatisfy(\.isDigit)
            guard lengths.count == 1, isNumber else { throw RequestError("Content-Length is not one number") }
            guard let length = Int(text) else { throw RequestError(413, "Content-Length is too large") }
            return .length(length)
        }
    }

    static func headers(_ lines: some Sequence<ArraySlice<UInt8>>) throws(RequestError) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for line in lines {
            guard let colon = line.firstIndex(of: .colon) else { throw RequestError("a header line has no colon") }
            let name = line[..<colon]
            guard name.isHTTPToken else { throw RequestError("a header name is not a token: no blanks, no folding") }
            let value = line[(colon + 1)...]
            guard !value.contains(where: \.breaksFieldValue) else {
                throw RequestError("a header value contains a control character")
            }
            headers.add(String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
        }
        return headers
    }

    /// Returns the lines without their line ends, and without the empty line that ends the block.
    private static func lines(of bytes: Data) throws(RequestError) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        for line in Array(bytes).split(separator: .lineFeed, omittingEmptySubsequences: false).dropLast() {
            guard line.last == .carriageReturn else { throw RequestError("a line ends in LF alone") }
            lines.append(line.dropLast())
        }
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    /// Returns whether a target is a path, a URL, an authority or an asterisk, without a fragment (RFC 9112 §3.2). The
    /// method does not matter.
    private static func isTarget(_ target: ArraySlice<UInt8>) -> Bool {
        !target.contains(.numberSign)
            && (target.first == .slash || target.contains(.colon) || target.elementsEqual("*".utf8))
    }

    private static func requestLine(
        _ line: ArraySlice<UInt8>
    ) throws(RequestError) -> (method: HTTPMethod, target: String, version: String) {
        let words = line.split(separator: .space, omittingEmptySubsequences: false)
        guard words.count == 3, words[0].isHTTPToken, !words[1].isEmpty, words[1].allSatisfy({ 0x21...0x7E ~= $0 })
        else {
            throw RequestError("the request line is not a method, a target and a version")
        }
        guard isTarget(words[1]) else {
            throw RequestError("the target is no path and no URL, or has a fragment (RFC 9112 §3.2)")
        }
        let version = String(decoding: words[2], as: UTF8.self)
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
            throw RequestError(version.hasPrefix("HTTP/") ? 505 : 400, "the version is neither HTTP/1.1 nor HTTP/1.0")
        }
        let method = HTTPMethod(rawValue: String(decoding: words[0], as: UTF8.self))
        return (method, String(decoding: words[1], as: UTF8.self), version)
    }
}

extension ASCIISet {
    /// The characters of an authority without user ([RFC 3986
    /// §3.2](https://www.rfc-editor.org/rfc/rfc3986#section-3.2)).
    fileprivate static let hostAndPort = unreserved.union(ASCIISet("!$&'()*+,;=%:[]"))
}

extension HTTPHeaders {
    /// Returns whether a list field has a token, in any case.
    func hasToken(_ token: String, in name: String) -> Bool {
        listMembers(of: name).contains { $0.equalsIgnoringCase(token) }
    }
}

/// An error in a request, with the status to answer. The connection is closed afterwards.
package struct RequestError: Error {
    package let status: Int
    package let reason: String

    init(_ status: Int, _ reason: String) {
        self.status = status
        self.reason = reason
    }

    init(_ reason: String) {
        self.init(400, reason)
    }

    var response: MockResponse {
        let upgrade: HTTPHeaders = [
            "Connection": "Upgrade, close", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        ]
        return .text("MockServer: \(reason)\n", statusCode: status, headers: status == 426 ? upgrade : [:])
    }
}
