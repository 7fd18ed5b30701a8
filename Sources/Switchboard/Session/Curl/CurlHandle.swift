#if os(Linux)
import SwitchboardCurl
import Foundation

/// One of libcurl's easy handles, kept from exchange to exchange of a session: only what differs is set again.
///
/// Used by one thread at a time: by the caller that prepares it, then by the loop.
final class CurlHandle: @unchecked Sendable {
    let easy: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private var headerList: UnsafeMutableRawPointer?
    private let resolveList: UnsafeMutableRawPointer?

    // What is set now.
    private var url = ""
    private var lines = HTTPHeaders()
    private var extras: Extras = []
    private var kind = Kind.get
    private var customMethod: String?
    private var connectTimeout = -1
    /// The bytes that libcurl reads at a time. A large buffer is for a large body: it is made anew for each exchange.
    private(set) var receiveBuffer = 0
    private var sendBuffer = 0
    private let settings: CurlSettings
    private var avoidsKeptConnections = false
    private var decodesContent = true
    /// The host and port of the proxy that the session names.
    var proxy: String? { settings.proxyPlace }

    private enum Kind { case get, head, upload }

    /// Lines that are not the request's own.
    private struct Extras: OptionSet {
        let rawValue: UInt8
        /// No `Expect: 100-continue` of libcurl's own making.
        static let noExpect = Extras(rawValue: 1)
        /// `Content-Length: 0` for a method that usually has a body ([RFC 9110
        /// §8.6](https://www.rfc-editor.org/rfc/rfc9110#section-8.6)).
        static let emptyBody = Extras(rawValue: 2)
        static let isSet = Extras(rawValue: 128)
    }

    /// - Throws: ``NetworkError/Code/unsupported`` for what the system's libcurl cannot do.
    init(_ settings: CurlSettings) throws(NetworkError) {
        guard let easy = swcurl_easy_make() else { throw NetworkError(.unknown, reason: "libcurl has no memory left") }
        do {
            resolveList = try settings.apply(to: easy)
        } catch {
            swcurl_easy_free(easy)
            throw error
        }
        self.easy = easy
        self.settings = settings
        errorText = .allocate(capacity: 256)
        errorText.initialize(repeating: 0, count: 256)
        swcurl_easy_set_pointer(easy, CurlOption.errorBuffer, errorText)
        CurlCallbacks.install(on: easy)
    }

    deinit {
        swcurl_easy_free(easy)
        if let headerList { swcurl_list_free(headerList) }
        if let resolveList { swcurl_list_free(resolveList) }
        errorText.deallocate()
    }

    /// libcurl's message about the last failure, or its general one.
    func message(for code: Int32) -> String {
        errorText[0] == 0 ? CurlLibrary.text(of: code) : String(cString: errorText)
    }

    /// Sets what this request needs. The body's bytes come later, through callbacks; its length is nil for no body and
    /// -1 for one of unknown length.
    func prepare(_ request: NetworkRequest, _ url: URL, credentials: String?, bodyLength: Int64?) {
        errorText[0] = 0
        let text = url.absoluteString
        if text != self.url {
            swcurl_easy_set_text(easy, CurlOption.url, text)
            self.url = text
            let isTLS = url.isHTTPS
            swcurl_easy_set_long(easy, CurlOption.pipeWait, settings.waitsToShare(isTLS: isTLS) ? 1 : 0)
            swcurl_easy_set_long(easy, CurlOption.httpVersion, settings.httpVersion(isTLS: isTLS))
            if !settings.keepsPlainConnections {
                swcurl_easy_set_long(easy, CurlOption.forbidReuse, isTLS ? 0 : 1)
            }
            swcurl_easy_set_text(easy, CurlOption.requestTarget, settings.target(of: text, isTLS: isTLS))
        }
        decodeContent(request.repetition != .undecoded)
        avoidKeptConnections(request.repetition != nil || !settings.keepsPlainConnections && !url.isHTTPS)
        setMethod(request.method, bodyLength: bodyLength)
        setHeaders(request, credentials: credentials, hasBody: bodyLength != nil)
        setBuffers(request, bodyLength: bodyLength)
    }

    /// libcurl's own limit for connecting, which begins with the transfer, in nanoseconds; `.max` for none.
    func limitConnecting(to nanoseconds: UInt64) {
        // Zero would be libcurl's own five minutes.
        let milliseconds = Int(min(nanoseconds / 1_000_000 + 1, UInt64(Int32.max)))
        guard milliseconds != connectTimeout else { return }
        swcurl_easy_set_long(easy, CurlOption.connectTimeout, milliseconds)
        connectTimeout = milliseconds
    }

    /// Whether libcurl's next connection is a new one. May be called in its callbacks.
    func avoidKeptConnections(_ isAvoiding: Bool) {
        guard isAvoiding != avoidsKeptConnections else { return }
        avoidsKeptConnections = isAvoiding
        swcurl_easy_set_long(easy, CurlOption.freshConnect, isAvoiding ? 1 : 0)
    }

    /// Whether libcurl undoes what `Content-Encoding` says. Before 8.5 it may be called in its callbacks.
    func decodeContent(_ isDecoding: Bool) {
        guard isDecoding != decodesContent else { return }
        decodesContent = isDecoding
        swcurl_easy_set_long(easy, CurlOption.httpContentDecoding, isDecoding ? 1 : 0)
    }

    private func setMethod(_ method: HTTPMethod, bodyLength: Int64?) {
        let kind: Kind = bodyLength != nil ? .upload : method == .head ? .head : .get
        if kind != self.kind {
            swcurl_easy_set_long(easy, CurlOption.httpGet, 1)  // undoes the other two
            if kind == .head { swcurl_easy_set_long(easy, CurlOption.noBody, 1) }
            if kind == .upload { swcurl_easy_set_long(easy, CurlOption.upload, 1) }
            self.kind = kind
        }
        if let bodyLength { swcurl_easy_set_offset(easy, CurlOption.inFileSize, bodyLength) }
        let custom = kind == .get && method == .get || kind == .head ? nil : method.rawValue
        if custom != customMethod {
            swcurl_easy_set_text(easy, CurlOption.customRequest, custom)
            customMethod = custom
        }
    }

    private func setBuffers(_ request: NetworkRequest, bodyLength: Int64?) {
        let receive = request.options.streamsResponse ? 256 << 10 : 32 << 10
        if receive != receiveBuffer {
            swcurl_easy_set_long(easy, CurlOption.bufferSize, receive)
            receiveBuffer = receive
        }
        guard let bodyLength else { return }
        let send = bodyLength < 0 || bodyLength > 1 << 20 ? 256 << 10 : 32 << 10
        if send != sendBuffer {
            swcurl_easy_set_long(easy, CurlOption.uploadBufferSize, send)
            sendBuffer = send
        }
    }

    private func setHeaders(_ request: NetworkRequest, credentials: String?, hasBody: Bool) {
        var headers = request.allHeaders
        if let credentials, !headers.contains("Authorization") { headers.add("Authorization", "Basic \(credentials)") }
        var extras: Extras = .isSet
        if hasBody {
            headers.remove("Content-Length")  // libcurl sends it, from the length
            if !headers.contains("Expect") { extras.insert(.noExpect) }
        } else if request.method == .post || request.method == .put || request.method == .patch {
            headers.remove("Content-Length")
            extras.insert(.emptyBody)
        }
        let cookies = headers.values(for: "Cookie")
        if cookies.count > 1 { headers.set("Cookie", cookies.joined(separator: "; ")) }  // RFC 6265 §5.4
        guard headers != lines || !headers.hasSameSpelling(as: lines) || extras != self.extras else { return }
        var list: UnsafeMutableRawPointer?
        for header in headers {
            // libcurl sends a name without a value when a semicolon ends it.
            let line = header.value.isEmpty ? header.name + ";" : header.name + ": " + header.value
            list = swcurl_list_append(list, line) ?? list
        }
        if extras.contains(.noExpect) { list = swcurl_list_append(list, "Expect:") ?? list }
        if extras.contains(.emptyBody) { list = swcurl_list_append(list, "Content-Length: 0") ?? list }
        swcurl_easy_set_pointer(easy, CurlOption.httpHeader, list)
        if let headerList { swcurl_list_free(headerList) }
        headerList = list
        lines = headers
        self.extras = extras
    }
}

extension HTTPHeaders {
    /// Whether names that are equal are also written alike.
    fileprivate func hasSameSpelling(as other: HTTPHeaders) -> Bool {
        zip(self, other).allSatisfy { $0.name == $1.name }
    }
}
#endif
