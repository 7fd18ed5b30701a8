import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardText
import Testing

struct EnvironmentURLsTests {
    @Test("each environment has its exact base URL; a bad one throws when read", .requirement("S3.2"))
    func lookups() throws {
        var servers: EnvironmentURLs = [
            .production: "https://api.example.com/3/", .qa: "http://u@qa:81?k=1", .staging: "not a URL",
        ]
        #expect(try servers.url(in: .production).absoluteString == "https://api.example.com/3/")
        #expect(try servers.url(in: .qa).absoluteString == "http://u@qa:81?k=1")
        let bad = #expect(throws: NetworkError.self) { try servers.url(in: .staging) }
        #expect(bad?.code == .invalidRequest)
        servers[.staging] = "https://staging.example.com"
        #expect(try servers.url(in: .staging).host == "staging.example.com")
        #expect(servers[NetworkEnvironment("canary")] == nil)
    }

    // RFC 3986 §2.4: "Implementations must not percent-encode or decode the same string more than once".
    @Test(
        "an escape in the text of a base URL stays next to a character that needs one",
        arguments: [
            ("https://h/é%20", "https://h/%C3%A9%20"), ("https://h/a b/%2F", "https://h/a%20b/%2F"),
            ("https://h?ids[]=%5B|", "https://h?ids%5B%5D=%5B%7C"), ("https://u:p%40^@h/", "https://u:p%40%5E@h/"),
            ("https://[::1]/%41^", "https://[::1]/%41%5E"),
            ("https://bücher.test/%20ü", "https://xn--bcher-kva.test/%20%C3%BC"),
        ])
    func escapes(text: String, url: String) throws {
        struct Root: EndPointType {
            let baseURL: String
            var path: String { "" }
        }
        #expect(try EnvironmentURLs([.qa: text]).url(in: .qa).absoluteString == url)
        #expect(try RequestBuilder().makeRequest(for: Root(baseURL: text)).url?.absoluteString == url)
    }

    @Test("the URL of an environment wins over the URL of all environments", .requirement("S3.2"))
    func everywhere() throws {
        var servers = try #require(NetworkManager(baseURL: "https://api.example.com").servers)
        servers[.qa] = "https://qa.example.com"
        #expect(servers[.qa] == "https://qa.example.com")
        #expect(try servers.url(in: .qa).host == "qa.example.com")
        #expect(try servers.url(in: .production).host == "api.example.com")
    }

    @Test("a missing environment is .unknownEnvironment and lists the others", .requirement("S3.2"))
    func unknown() {
        let servers: EnvironmentURLs = [.production: "https://h", .qa: "https://q"]
        let error = #expect(throws: NetworkError.self) { try servers.url(in: NetworkEnvironment("canary")) }
        #expect(error?.code == .unknownEnvironment && error?.code.isKind(of: .invalidRequest) == true)
        for name in ["canary", "production", "qa"] { #expect(error?.reason?.contains(name) == true) }
        let none = #expect(throws: NetworkError.self) { try EnvironmentURLs([:]).url(in: .qa) }
        #expect(none?.code == .unknownEnvironment)
        #expect(
            error?.localizedDescription == "Unable to create the request: the environment \"canary\" has no server; "
                + "there are servers for production, qa")
    }

    @Test(
        "a text that is no http URL is .invalidRequest, without its secrets",
        .requirement("S3.2"),
        arguments: [
            "", " ", "h.example", "/path", "ftp://h?token=s3cret", "https://?token=s3cret", "https:///p?token=s3cret",
            "https://u:s3cret@",
            "http//h", "https:h", "::", "https://h:port/?token=s3cret", "mailto:x@y?token=s3cret",
        ])
    func badTexts(text: String) {
        let error = #expect(throws: NetworkError.self) { try EnvironmentURLs([.staging: text]).url(in: .staging) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason?.contains("staging") == true)
        #expect(error?.description.contains("s3cret") == false)
    }

    @Test(
        "the error of a base URL without a scheme suggests a URL",
        arguments: [
            ("localhost:8080", "write http://localhost:8080"), ("127.0.0.1:80/v1", "write http://127.0.0.1:80/v1"),
            ("localhost", "write http://localhost"), ("[::1]:8080", "write http://[::1]:8080"),
            ("api.example.com/v1?token=s3cret", "write https://api.example.com/v1?token=<redacted>"),
            ("api.example.com:8443/", "write https://api.example.com:8443/"),
            ("//h.example/", "write https://h.example/"),
            ("api.example.com/\u{7F}", nil), ("/v1", nil), ("mailto:x@y", nil), ("ftp://h", nil), ("", nil),
            ("https:h", nil), ("localhost:a", nil),
        ] as [(String, String?)])
    func noScheme(text: String, advice: String?) {
        let error = #expect(throws: NetworkError.self) { try EnvironmentURLs([.qa: text]).url(in: .qa) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason?.contains("write ") == (advice != nil))
        if let advice { #expect(error?.reason?.hasSuffix("has no scheme: \(advice)") == true) }
        #expect(error?.description.contains("s3cret") == false)
    }

    @Test(
        "the error of a base URL with a typo names the typo",
        arguments: [
            (" https://h", "begins with a space"), ("\thttps://h", "begins with a tab"),
            ("https:/h.example/v1?token=s3cret", "write https://h.example/v1?token=<redacted>"),
            ("", "qa is empty"), ("http://[::1", "has a bracket that is not closed"),
            ("https://a%2eexample/b%20c", "has a percent sign in its host"),
            ("http:/", "has no host"), ("https:h", "has no host"),
            ("https://h:+80/", "has a port that is not a number up to 65535"),
            ("https://h:-0", "has a port that is not a number up to 65535"),
        ])
    func slips(text: String, fault: String) {
        let error = #expect(throws: NetworkError.self) { try EnvironmentURLs([.qa: text]).url(in: .qa) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason?.hasSuffix(fault) == true)
        #expect(error?.description.contains("s3cret") == false)
    }

    @Test("a text with a blank or a control character after its host has a fault")
    func blanks() {
        #expect(URLFault.of("https://h.example/a") == nil)
        #expect(URLFault.of("https://h.example/a b") == "contains a space")
        #expect(URLFault.of("https://h.example/a\u{7F}") == "contains the control character 0x7F")
    }

    @Test("the last of repeated environments wins")
    func repeats() throws {
        #expect(try ([.qa: "https://a", .qa: "https://b"] as EnvironmentURLs).url(in: .qa).host == "b")
    }
}
