#if os(Linux)
import SwitchboardCurlC
import Foundation

/// An easy handle of libcurl, reused by the exchanges of a session. Only options that differ are set again.
///
/// One thread uses it at a time: first the caller that prepares it, then the loop.
final class CurlHandle: @unchecked Sendable {
    let easy: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    /// The context of the callbacks: a pointer to the exchange that uses the handle. libcurl has nine options for the
    /// context, so its address is set only once. The loop retains the exchange as long as libcurl may call back.
    private let context: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    private var headerList: UnsafeMutableRawPointer?
    private let resolveList: UnsafeMutableRawPointer?

    // The current settings.
    private var url = ""
    /// The part of the URL that libcurl parses.
    private var server = ""
    /// The parsed ``server``. Without it, libcurl would parse and format the URL for each exchange.
    private var parsedURL: UnsafeMutableRawPointer?
    /// Alternating names and values. Only their owner uses the handle, so exclusivity checks would find nothing.
    @exclusivity(unchecked) private var fields: [String] = []
    private var extra = Extra.none
    private var kind = Kind.get
    private var customMethod: String?
    private var connectTimeout = -1 { didSet { set(CurlOption.connectTimeout, connectTimeout, after: oldValue) } }
    /// The number of bytes that libcurl reads at a time. libcurl allocates a buffer of this size for each
    /// exchange, so only a large body gets a large buffer.
    private(set) var receiveBuffer = 0 { didSet { set(CurlOption.bufferSize, receiveBuffer, after: oldValue) } }
    private var sendBuffer = 0 { didSet { set(CurlOption.uploadBufferSize, sendBuffer, after: oldValue) } }
    private let options: CurlOptions
    private let defaultFields: [(name: String, line: String)]
    /// Whether libcurl's next connection must be new. Callbacks of libcurl may set it.
    var requiresNewConnection = false {
        didSet { set(CurlOption.freshConnect, requiresNewConnection, after: oldValue) }
    }
    /// Whether libcurl closes the connection if no other exchange uses it at the end of this one.
    var forbidsReuse = false { didSet { set(CurlOption.forbidReuse, forbidsReuse, after: oldValue) } }
    /// The time in seconds after which libcurl reuses no idle connection.
    var longestIdleTime = CurlHandle.usualIdleTime {
        didSet { set(CurlOption.longestIdleTime, longestIdleTime, after: oldValue) }
    }
    /// Whether the callback for the body also receives the lines of the head, each before libcurl reads it.
    /// Callbacks of libcurl may set it.
    var includesHead = false { didSet { set(CurlOption.header, includesHead, after: oldValue) } }
    /// Whether the exchange receives the number of its HTTP/2 stream, and each GOAWAY that libcurl reads for the
    /// exchange. Callbacks of libcurl may set it.
    var watchesStreams = false {
        didSet { if watchesStreams != oldValue { swcurl_easy_watch_streams(easy, watchesStreams) } }
    }
    private var isUpgrading = false
    /// Whether the trusted authorities are set. Without TLS, a file of them that cannot be read is no error.
    private var hasAuthorities = false
    /// Whether the fields end the connection ([RFC 9112 §9.6](https://www.rfc-editor.org/rfc/rfc9112#section-9.6)).
    private var isLastRequest = false

    private enum Kind {
        /// No body.
        case get
        /// No body, and libcurl expects none in the response.
        case head
        /// A body that libcurl has copied.
        case post
        /// A body that a callback delivers.
        case upload
    }

    /// The header lines beyond the request's fields.
    private enum Extra {
        /// None, for a request without a body.
        case none
        /// Without the `Expect` and `Content-Type` of libcurl.
        case body
        /// Also without its `Transfer-Encoding`.
        case noFraming
        /// `Content-Length: 0`.
        case emptyBody
        /// As ``noFraming``, with `Content-Length: 0`.
        case emptyStream
    }

    init(_ options: CurlOptions) throws(CurlFailure) {
        guard let easy = swcurl_easy_make() else { throw .system("libcurl has no memory left") }
        do {
            resolveList = try options.apply(to: easy)
        } catch {
            swcurl_easy_free(easy)
            throw error
        }
        self.easy = easy
        self.options = options
        defaultFields = options.defaultFields
        errorText = .allocate(capacity: 256)
        errorText.initialize(repeating: 0, count: 256)
        swcurl_easy_set_pointer(easy, CurlOption.errorBuffer, errorText)
        context = .allocate(capacity: 1)
        context.initialize(to: nil)
        swcurl_easy_set_context(easy, context)
        CurlExchange.installCallbacks(on: easy)
    }

    deinit {
        swcurl_easy_free(easy)
        if let parsedURL { swcurl_url_free(parsedURL) }
        if let headerList { swcurl_list_free(headerList) }
        if let resolveList { swcurl_list_free(resolveList) }
        errorText.deallocate()
        context.deallocate()
    }

    /// Sets the exchange that libcurl's callbacks call.
    func setExchange(_ exchange: CurlExchange) {
        context.pointee = Unmanaged.passUnretained(exchange).toOpaque()
    }

    var hasMessage: Bool { errorText[0] != 0 }

    /// Returns libcurl's message about the last failure, or its general one.
    func message(for code: Int32) -> String {
        errorText[0] == 0 ? CurlLibrary.text(of: code) : String(cString: errorText)
    }

    /// Configures the handle for a request. `eachField` calls its closure with the header fields. The bytes of a large
    /// or streamed body follow through callbacks.
    ///
    /// - Throws: When libcurl refuses the URL because it is too long, or has no memory left, or when the trusted
    ///   authorities cannot be set.
    func prepare(
        _ request: CurlRequest, eachField: ((_ name: String, _ value: String) -> Void) -> Void
    ) throws(CurlFailure) {
        errorText[0] = 0
        includesHead = false
        if !hasAuthorities, !options.isPlain(isTLS: request.isTLS) {
            try options.applyAuthorities(to: easy)
            hasAuthorities = true
        }
        if request.url != url { try setURL(request.url, isTLS: request.isTLS) }
        upgrade(request.isUpgrade, isTLS: request.isTLS)
        let isAlone = request.isUpgrade || !options.reusesPlainConnections && !request.isTLS
        requiresNewConnection = request.isOnNewConnection || isAlone
        // A stream that announces 0 bytes may have some. libcurl reads it only if its length is unknown.
        let isEmptyStream = request.bodyLength == 0
        let bodyLength = isEmptyStream ? -1 : request.bodyLength
        try setMethod(request.method, bodyLength: bodyLength, smallBody: request.smallBody)
        let extra = request.isUpgrade ? Extra.noFraming : isEmptyStream ? .emptyStream : .body
        setHeaders(bodyLength != nil ? extra : request.announcesEmptyBody ? .emptyBody : .none, eachField)
        forbidsReuse = isAlone || isLastRequest
        // libcurl 7.88 accepts a head of 128 KiB over HTTP/2, and stops within one that does not fit into the buffer.
        let head = options.mayBeHTTP2(isTLS: request.isTLS) ? 128 << 10 : 32 << 10
        receiveBuffer = request.isStreamed ? 256 << 10 : head
        if let length = request.bodyLength { sendBuffer = length < 0 || length > 1 << 20 ? 256 << 10 : 32 << 10 }
        watchesStreams = false
    }

    /// Sets libcurl's limit for connecting in nanoseconds, counted from the start of the transfer. `.max` means no
    /// limit.
    func limitConnecting(to nanoseconds: UInt64) {
        // Zero would set libcurl's default of five minutes.
        connectTimeout = Int(min(nanoseconds / 1_000_000 + 1, UInt64(Int32.max)))
    }

    /// libcurl's default of ``longestIdleTime``.
    static let usualIdleTime = 118

    private func set(_ option: Int32, _ value: Int, after last: Int) {
        if value != last { swcurl_easy_set_long(easy, option, value) }
    }

    private func set(_ option: Int32, _ value: Bool, after last: Bool) {
        set(option, value ? 1 : 0, after: last ? 1 : 0)
    }

    /// Sets the options of an upgraded connection, which is not reused, and which a proxy tunnels.
    private func upgrade(_ isUpgrading: Bool, isTLS: Bool) {
        guard isUpgrading != self.isUpgrading else { return }
        self.isUpgrading = isUpgrading
        // 2 is CURL_HTTP_VERSION_1_1.
        let version = isUpgrading ? 2 : options.httpVersion(isTLS: isTLS)
        swcurl_easy_set_long(easy, CurlOption.httpVersion, version)
        swcurl_easy_set_long(easy, CurlOption.proxyTunnel, isUpgrading ? 1 : 0)
    }

    private func setURL(_ url: String, isTLS: Bool) throws(CurlFailure) {
        upgrade(false, isTLS: isTLS)
        self.url = url
        let (server, target) = options.split(url, isTLS: isTLS)
        let code = swcurl_easy_set_text(easy, CurlOption.requestTarget, target)
        // libcurl would request "/" instead.
        guard code == 0 else { throw .refusedURL(length: url.utf8.count, code: code) }
        guard server != self.server else { return }
        self.server = server
        swcurl_easy_set_text(easy, CurlOption.url, server)
        // libcurl rejects an invalid URL later, with a message.
        let parsed = swcurl_url_make(server)
        swcurl_easy_set_pointer(easy, CurlOption.parsedURL, parsed)
        if let parsedURL { swcurl_url_free(parsedURL) }
        parsedURL = parsed
        // Waits for a connection attempt, to share the connection. Without TLS, libcurl would wait for the first response,
        // however long that takes.
        swcurl_easy_set_long(easy, CurlOption.pipeWait, options.mayBeHTTP2(isTLS: isTLS) ? 1 : 0)
        swcurl_easy_set_long(easy, CurlOption.httpVersion, options.httpVersion(isTLS: isTLS))
    }

    private func setMethod(_ method: String, bodyLength: Int64?, smallBody: Data?) throws(CurlFailure) {
        let kind: Kind =
            smallBody != nil ? .post : bodyLength != nil ? .upload : method == "HEAD" ? .head : .get
        if kind != self.kind {
            if self.kind == .post { swcurl_easy_set_pointer(easy, CurlOption.copyPostFields, nil) }
            swcurl_easy_set_long(easy, CurlOption.httpGet, 1)  // resets the other kinds
            if kind == .head { swcurl_easy_set_long(easy, CurlOption.noBody, 1) }
            if kind == .upload { swcurl_easy_set_long(easy, CurlOption.upload, 1) }
            self.kind = kind
        }
        if let smallBody {
            swcurl_easy_set_offset(easy, CurlOption.postFieldSize, Int64(smallBody.count))
            let code = smallBody.withUnsafeBytes { bytes in
                // libcurl copies the bytes.
                swcurl_easy_set_pointer(
                    easy, CurlOption.copyPostFields, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
            }
            guard code == 0 else { throw .system("libcurl has no memory left") }
        } else if let bodyLength {
            swcurl_easy_set_offset(easy, CurlOption.inFileSize, bodyLength)
        }
        let custom = kind == .get && method == "GET" || kind == .head ? nil : method
        if custom != customMethod {
            swcurl_easy_set_text(easy, CurlOption.customRequest, custom)
            customMethod = custom
        }
    }

    /// The lines that keep libcurl from adding these fields to a request with a body. It would call a small body a form.
    private static let removedFields = [
        (name: "expect", line: "Expect:"), (name: "content-type", line: "Content-Type:"),
    ]

    private func setHeaders(_ extra: Extra, _ eachField: ((String, String) -> Void) -> Void) {
        var (count, isSame) = (0, extra == self.extra && headerList != nil)
        eachField { name, value in
            isSame =
                isSame && count + 1 < fields.count && fields[count].hasBytes(of: name)
                && fields[count + 1].hasBytes(of: value)
            count += 2
        }
        guard !isSame || count != fields.count else { return }
        fields.removeAll(keepingCapacity: true)
        isLastRequest = false
        var list: UnsafeMutableRawPointer?
        var defaults = defaultFields
        if extra != .none, extra != .emptyBody { defaults += Self.removedFields }
        eachField { name, value in
            fields.append(name)
            fields.append(value)
            // libcurl sends a name without a value when it ends in a semicolon.
            list = swcurl_list_append(list, value.isEmpty ? name + ";" : name + ": " + value) ?? list
            let name = name.lowercased()
            defaults.removeAll { $0.name == name }
            if name == "connection", value.hasToken("close") { isLastRequest = true }
            // A range counts bytes of the coded body, which cannot be decoded from its middle (Fetch,
            // HTTP-network-or-cache fetch).
            if name == "range", let index = defaults.firstIndex(where: { $0.name == "accept-encoding" }) {
                defaults[index].line = "Accept-Encoding: identity"
            }
        }
        for field in defaults { list = swcurl_list_append(list, field.line) ?? list }
        if extra == .noFraming || extra == .emptyStream {
            list = swcurl_list_append(list, "Transfer-Encoding:") ?? list
        }
        if extra == .emptyBody || extra == .emptyStream { list = swcurl_list_append(list, "Content-Length: 0") ?? list }
        swcurl_easy_set_pointer(easy, CurlOption.httpHeader, list)
        if let headerList { swcurl_list_free(headerList) }
        headerList = list
        self.extra = extra
    }
}

extension String {
    /// Returns whether a list separated by commas contains a lower-case token, ignoring case.
    fileprivate func hasToken(_ token: String) -> Bool {
        lowercased().split(separator: ",").contains { $0.trimmingCharacters(in: .whitespaces) == token }
    }

    /// Returns whether the bytes are equal. Each request compares some twenty fields, so this uses `memcmp`:
    /// `elementsEqual` costs 4,000 instructions more for them.
    fileprivate func hasBytes(of other: String) -> Bool {
        var (own, other) = (self, other)
        return own.withUTF8 { own in
            other.withUTF8 { other in
                guard own.count == other.count, let left = own.baseAddress, let right = other.baseAddress else {
                    return own.isEmpty && other.isEmpty
                }
                return memcmp(left, right, own.count) == 0
            }
        }
    }
}
#endif
