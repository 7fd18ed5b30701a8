import Foundation
@testable import Switchboard
@testable import SwitchboardCache
@testable import SwitchboardCookies
@testable import SwitchboardCurl
@testable import SwitchboardPlatform
@testable import SwitchboardText

extension Target {
    static let heads = [head, setCookie, date, cacheControl]

    private static let head = Target("head") { bytes in
        var head = CurlHead()
        for line in Data(bytes).split(separator: 0x0A, omittingEmptySubsequences: false) {
            let isFinal = (Array(line) + [0x0A]).withUnsafeBufferPointer { head.add($0) }
            check(!isFinal || head.isComplete, "a final head is not complete")
        }
        check((0...999).contains(head.status), "the status is \(head.status)")
        let fields = HTTPHeaders(lines: head.lines)
        // A session gives the head of the last response for comparison.
        var known = KnownHead()
        for _ in 0..<2 {
            check(HTTPHeaders(lines: head.lines, like: &known) == fields, "\(fields) depends on the last head")
        }
        for field in fields {
            check(field.fault != nil || !(field.name + field.value).breaksHead, "\(field) has two lines")
        }
        guard head.fault == nil, fields.allSatisfy({ $0.fault == nil }) else { return }
        let text = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        check(HTTPHeaders(lines: Array(text.utf8)) == fields, "\(fields) differs when it is read again")
    } read: {
        _ = HTTPHeaders(lines: Array($0))
    }

    private static let setCookie = Target("set-cookie") { bytes in
        let text = String(bytes)
        let pieces = text.splitIntoCookies
        check(pieces.reduce(0) { $0 + $1.utf8.count } <= text.utf8.count, "\(pieces) is longer")
        for piece in pieces {
            guard let cookie = SetCookie(piece) else { continue }
            let again = SetCookie("\(cookie.name)=\(cookie.value)")
            check(again?.name == cookie.name && again?.value == cookie.value, "\(cookie) differs")
            check(!(cookie.name + cookie.value).breaksHead, "\(cookie) has two lines")
            check(cookie.domain?.utf8.contains { $0 == 0x3B } != true, "\(cookie) has a semicolon")
        }
        storeCookies(text)
    } read: {
        storeCookies(String($0))
    }

    private static let date = Target("date") { bytes in
        let text = String(bytes)
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        for date in [HTTPDate.parse(text, now: now), CookieDate.parse(text)].compactMap({ $0 }) {
            let again = HTTPDate.parse(HTTPDate.text(date), now: now)
            let isWritten = (0..<253_402_300_800).contains(date.timeIntervalSince1970)
            check(!isWritten || again == date, "\(text) is \(date), and then \(String(describing: again))")
        }
    } read: {
        _ = HTTPDate.parse(String($0))
    }

    private static let cacheControl = Target("cache-control") { bytes in
        let value = String(bytes)
        let control = CacheControl(["Cache-Control": value])
        let more = CacheControl(["Cache-Control": value + ", no-store"])
        check(more.isNoStore, "no-store is lost after \(value)")
        var fields: HTTPHeaders = ["Cache-Control": value]
        fields.add("Cache-Control", "no-store")
        let two = CacheControl(fields)
        check(two.isNoStore, "no-store in a second field is lost after \(value)")
        for seconds in [control.maxAge, control.minFresh, control.staleIfError].compactMap({ $0 }) {
            check((0...2_147_483_648).contains(seconds), "\(seconds) seconds")
        }
    } read: {
        _ = CacheControl(["Cache-Control": String($0)])
    }
}

/// Stores the cookies of the fields in a jar, and checks which of them are sent.
private func storeCookies(_ text: String) {
    guard let url = URL(string: "https://www.a.example/b/c") else { return }
    let jar = CookieJar()
    jar.store(text.split(separator: "\n").map { String($0) }, from: url)
    for cookie in jar.cookies(for: url) {
        let fault = cookie.fault(isStored: true)
        check(fault == nil, "\(cookie.name) \(fault ?? "")")
        check("www.a.example".hasSuffix(cookie.domain), "a cookie of \(cookie.domain) goes to www.a.example")
    }
    guard let foreign = URL(string: "https://b.example/b/c") else { return }
    check(jar.cookies(for: foreign).isEmpty, "a cookie goes to b.example")
}

extension Target {
    static let addresses = [url, location]

    private static let url = Target("url") { bytes in
        let text = String(bytes)
        guard URLFault.of(text) == nil, let url = URL(string: text), URLFault.of(url) == nil else { return }
        CurlURL.compare(url, CurlURL(url.absoluteString), text)
    } read: {
        _ = URLFault.of(String($0))
    }

    private static let location = Target("location") { bytes in
        let text = String(bytes)
        let base = "http://a.example/b/c?d"
        guard let url = URL(location: text, relativeTo: URL(string: base)), URLFault.of(url) == nil else { return }
        CurlURL.compare(url, CurlURL(url.absoluteString), text)
        // curl reads these otherwise than browsers, and sends others as they are.
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x5C || $0 > 0x7E }) else { return }
        guard let theirs = CurlURL(base, text) else { return }
        CurlURL.compare(url, theirs, text)
    } read: {
        _ = URL(location: String($0), relativeTo: URL(string: "http://a.example/b/c?d"))
    }
}

/// A URL as libcurl's parser reads it.
struct CurlURL {
    let scheme: String
    let host: String
    let port: String?
    let user: String?
    let password: String?

    /// Reads a URL and resolves references against it. Nil if curl refuses one of them.
    init?(_ texts: String...) {
        let parser = CurlURLParser.loaded
        let handle = parser.create()
        defer { parser.free(handle) }
        for text in texts where parser.set(handle, 0, text, 0) != 0 { return nil }
        func part(_ number: CInt) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            guard parser.get(handle, number, &text, 0) == 0, let text else { return nil }
            defer { parser.freeText(text) }
            return String(cString: text)
        }
        scheme = part(1)?.lowercased() ?? ""
        host = part(5)?.lowercased() ?? ""
        port = part(6)
        (user, password) = (part(2), part(3))
    }

    /// Checks that both name the same server and user. `theirs` is what curl reads, or nil if it refuses the URL, which
    /// a session reports.
    static func compare(_ url: URL, _ theirs: CurlURL?, _ text: String) {
        guard let theirs else { return }
        let host = decoded(url.host)
        let other = decoded(theirs.host).trimmingCharacters(in: ["[", "]"])
        let (user, password) = (decoded(url.user(percentEncoded: true)), decoded(url.password(percentEncoded: true)))
        check(
            url.scheme?.lowercased() == theirs.scheme
                && (host == other || address(host) != nil && address(host) == address(other))
                && theirs.port.map { Int($0) == url.port } ?? (url.port == nil)
                && user == decoded(theirs.user) && password == decoded(theirs.password),
            "\(text.debugDescription) is \(url), for curl \(theirs)")
    }

    private static func decoded(_ text: String?) -> String {
        String(decoding: (text ?? "").utf8.percentDecoded, as: UTF8.self).lowercased()
    }

    /// The bytes of an address. curl writes 0x7f.1 as 127.0.0.1, and the address of IPv6 in its short form.
    private static func address(_ host: String) -> [UInt8]? {
        var four = in_addr()
        if inet_aton(host, &four) != 0 { return withUnsafeBytes(of: four) { Array($0) } }
        var six = in6_addr()
        // The zone follows a percent sign.
        let isSix = inet_pton(AF_INET6, String(host.prefix { $0 != "%" }), &six) == 1
        return isSix ? withUnsafeBytes(of: six) { Array($0) } : nil
    }
}

/// The functions of [libcurl's parser of URLs](https://curl.se/libcurl/c/libcurl-url.html).
private struct CurlURLParser: @unchecked Sendable {  // pointers to functions, which never change
    let create: @convention(c) () -> OpaquePointer?
    let free: @convention(c) (OpaquePointer?) -> Void
    let set: @convention(c) (OpaquePointer?, CInt, UnsafePointer<CChar>?, CUnsignedInt) -> CInt
    let get:
        @convention(c) (OpaquePointer?, CInt, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, CUnsignedInt) -> CInt
    let freeText: @convention(c) (UnsafeMutablePointer<CChar>?) -> Void

    static let loaded = try! CurlURLParser()

    private init() throws(DynamicLibrary.Failure) {
        let library = try DynamicLibrary(firstOf: ["libcurl.so.4"])
        create = try library.function("curl_url")
        free = try library.function("curl_url_cleanup")
        set = try library.function("curl_url_set")
        get = try library.function("curl_url_get")
        freeText = try library.function("curl_free")
    }
}
