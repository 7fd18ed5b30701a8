import Foundation
import SwitchboardTesting
import Testing

@testable import Switchboard
import SwitchboardTestSupport
@testable import SwitchboardStreams

/// Values are those of RFC 8288, or follow from its rules.
struct WebLinkTests {
    private let here = URL(text: "http://example.com/TheBook/chapter3")

    /// The target, the relations and the title of a link.
    private struct Seen: Equatable, CustomStringConvertible {
        let target: String
        let relations: [String]
        var title: String?
        var description: String { "\(target) \(relations) \(title ?? "-")" }
    }

    private func links(_ fields: String..., at url: URL? = nil) -> [WebLink] {
        NetworkResponse(
            statusCode: 200, headers: HTTPHeaders(fields.map { HTTPHeader(name: "Link", value: $0) }), url: url
        )
        .links
    }

    private func seen(_ fields: String...) -> [Seen] {
        fields.flatMap { links($0, at: here) }.map {
            Seen(target: $0.target.absoluteString, relations: $0.relations, title: $0.title)
        }
    }

    private func targets(_ field: String) -> [String] {
        links(field, at: here).map(\.target.absoluteString)
    }

    // MARK: RFC 8288 §3.5

    @Test("reads the examples of RFC 8288 §3.5")
    func examples() {
        let book = "http://example.com/TheBook"
        #expect(
            seen(#"<http://example.com/TheBook/chapter2>; rel="previous"; title="previous chapter""#)
                == [Seen(target: "\(book)/chapter2", relations: ["previous"], title: "previous chapter")])
        #expect(
            seen(#"</>; rel="http://example.net/foo""#)
                == [Seen(target: "http://example.com/", relations: ["http://example.net/foo"])])
        // A link of a part of the resource, not of the resource (§3.2).
        #expect(seen(##"</terms>; rel="copyright"; anchor="#foo""##) == [])
        #expect(
            seen(
                "</TheBook/chapter2>; rel=\"previous\"; title*=UTF-8'de'letztes%20Kapitel, "
                    + "</TheBook/chapter4>; rel=\"next\"; title*=UTF-8'de'n%c3%a4chstes%20Kapitel")
                == [
                    Seen(target: "\(book)/chapter2", relations: ["previous"], title: "letztes Kapitel"),
                    Seen(target: "\(book)/chapter4", relations: ["next"], title: "n\u{E4}chstes Kapitel"),
                ])
        #expect(
            seen(#"<http://example.org/>; rel="start http://example.net/relation/other""#)
                == [Seen(target: "http://example.org/", relations: ["start", "http://example.net/relation/other"])])
        let two = [
            Seen(target: "https://example.org/", relations: ["start"]),
            Seen(target: "https://example.org/index", relations: ["index"]),
        ]
        #expect(seen(#"<https://example.org/>; rel="start", <https://example.org/index>; rel="index""#) == two)
        #expect(seen(#"<https://example.org/>; rel="start""#, #"<https://example.org/index>; rel="index""#) == two)
    }

    @Test("reads the links of GitHub's documentation")
    func gitHub() throws {
        let field = """
            <https://api.github.com/repositories/1300192/issues?page=2>; rel="prev", \
            <https://api.github.com/repositories/1300192/issues?page=4>; rel="next", \
            <https://api.github.com/repositories/1300192/issues?page=515>; rel="last", \
            <https://api.github.com/repositories/1300192/issues?page=1>; rel="first"
            """
        let url = URL(text: "https://api.github.com/repos/o/r/issues?page=3")
        #expect(links(field, at: url).map(\.relations) == [["prev"], ["next"], ["last"], ["first"]])
        let next = try NetworkResponse(statusCode: 200, headers: ["Link": field], url: url).nextPage()
        #expect(next?.absoluteString == "https://api.github.com/repositories/1300192/issues?page=4")
    }

    // MARK: Parameters

    @Test("quoted values may hold any delimiter (RFC 8288 appendix B.4)")
    func quoted() {
        let links = links(#"</a>; title="a, <b>; rel=\"prev\" \\ c"; rel="next", </b>; rel=last"#, at: here)
        #expect(links.map(\.relations) == [["next"], ["last"]])
        #expect(links.first?.title == #"a, <b>; rel="prev" \ c"#)
    }

    @Test(
        "finds a relation however it is written (RFC 8288 §3.3, §2.1)",
        arguments: [
            #"</a>; rel="next""#, "</a>; rel=next", "</a>;rel=next", "</a>;REL=NEXT", #"</a> ; rel = "Next" "#,
            #"</a>;rel="prefetch next""#, "</a>; rel=\"last \t next\"", #"</a>; title; rel=next"#,
            #"</a>;; rel=next"#, #"</a>; rel="ne\xt""#, "</a>; rel=next; rel=prev", "  \t</a>; rel=next ,",
            ",, </b>; rel=prev,,</a>; rel=next", #"</b>; rev=next; rel=prev, </a>; rel="next"#,
        ])
    func relation(field: String) throws {
        let next = try NetworkResponse(statusCode: 200, headers: ["Link": field], url: here).nextPage()
        #expect(next?.absoluteString == "http://example.com/a")
    }

    @Test(
        "a field without a link to the next page has no next page",
        arguments: [
            "", "</a>", "</a>; rel=prev; rel=next", "</a>; rel=", #"</a>; rel="nextpage""#, "</a>; rev=next",
            "</a>; title=next", "</a; rel=next", "/a; rel=next", #"</a>; title="x; rel=next"#, "</a>, rel=next",
            "</a> x; rel=next", "</a>; anchor=\"/other\"; rel=next", "</a>; rel=next; anchor=\"http://[\"",
        ])
    func noNext(field: String) throws {
        let next = try NetworkResponse(statusCode: 200, headers: ["Link": field], url: here).nextPage()
        #expect(next == nil)
    }

    @Test("keeps repeated parameters and reads the first (RFC 8288 §3.3, §3.4.1)")
    func parameters() throws {
        let link = try #require(
            links("</a>; rel=next; Hreflang=de; hreflang=fr; title=one; title=two; crossorigin", at: here).first)
        #expect(link.parameters.map(\.name) == ["rel", "hreflang", "hreflang", "title", "title", "crossorigin"])
        #expect(link.parameters.map(\.value) == ["next", "de", "fr", "one", "two", ""])
        #expect(link[parameter: "HREFLANG"] == "de")
        #expect(link.title == "one")
        #expect(link[parameter: "media"] == nil)
    }

    @Test("an unreadable extended title yields to the plain one (RFC 8187 §3.2)")
    func extendedTitles() {
        for value in ["iso-8859-1'en'%A3%20rates", "UTF-8", "UTF-8''%FF", "''x"] {
            #expect(links("</a>; title*=\(value); title=plain", at: here).first?.title == "plain")
        }
        // RFC 8187 §3.2.3
        let title = links("</a>; title=plain; title*=UTF-8''%c2%a3%20and%20%e2%82%ac%20rates", at: here).first?.title
        #expect(title == "\u{A3} and \u{20AC} rates")
    }

    // MARK: Targets

    @Test("resolves relative targets against the response's URL (RFC 3986 §5.4)")
    func relative() {
        #expect(
            targets("<?page=2>, <chapter4>, <../x>, </x>, <//h/x>, <#s>, <>, <http://h/a/../b>") == [
                "http://example.com/TheBook/chapter3?page=2", "http://example.com/TheBook/chapter4",
                "http://example.com/x", "http://example.com/x", "http://h/x", "http://example.com/TheBook/chapter3#s",
                "http://example.com/TheBook/chapter3", "http://h/b",
            ])
        #expect(targets("<a b,c;d>, <\u{E9}>") == ["a%20b,c;d", "%C3%A9"].map { "http://example.com/TheBook/\($0)" })
        #expect(targets("<mailto:a@example.com>, <ftp://h/x>") == ["mailto:a@example.com", "ftp://h/x"])
        // RFC 3492: b\u{FC}cher is xn--bcher-kva.
        #expect(targets("<http://b\u{FC}cher.test/\u{E9}>") == ["http://xn--bcher-kva.test/%C3%A9"])
    }

    @Test("without a response URL only absolute targets are links")
    func withoutBase() {
        #expect(links("</a>; rel=prev, <http://h/>; rel=next").map(\.target.absoluteString) == ["http://h/"])
    }

    @Test("only an anchor that names the response is accepted (RFC 8288 §3.2)")
    func anchors() {
        for anchor in ["", "chapter3", "/TheBook/chapter3", "http://example.com/TheBook/chapter3"] {
            #expect(targets("</a>; rel=next; anchor=\"\(anchor)\"") == ["http://example.com/a"])
        }
        for anchor in ["#foo", "chapter2", "?x", "https://example.com/TheBook/chapter3", "http://["] {
            #expect(targets("</a>; rel=next; anchor=\"\(anchor)\"") == [])
        }
    }

    // MARK: Bad input

    @Test("skips invalid syntax and reads the links after it")
    func broken() {
        for bad in ["x", "\"a, b\"", "</b> </c>", "</b>; \"x\"", ";", "</b>; =x", "http://h/, </b>"] {
            #expect(targets("\(bad), </a>; rel=next").last == "http://example.com/a", "\(bad)")
        }
        #expect(targets("\"x, </b>; rel=next\", </a>; rel=next") == ["http://example.com/a"])
        #expect(targets("</a>; rel=next, </b") == ["http://example.com/a"])
        #expect(targets("</a>; title=\"\\") == ["http://example.com/a"])
        #expect(targets("<http://[x>, </a>") == ["http://example.com/a"])
    }

    @Test("random and repetitive fields parse without a crash or a hang")
    func garbage() {
        var random = SeededGenerator(seed: 8288)
        let alphabet = Array("<>;,=\"\\ \trel next/:?#[]%\u{E9}*'")
        for _ in 0..<5_000 {
            let field = String(
                (0..<Int.random(in: 0...40, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? "<" })
            for link in links(field, at: here) { #expect(link.target.scheme != nil) }
        }
        for part in ["<", ",", "\"", "<>;", "</a>,", "\\\"", "</a>;a=\"\\", ";"] {
            _ = links(String(repeating: part, count: 5_000), at: here)
        }
    }

    @Test("of a long URL, the number of links is limited", arguments: [(1_000, 2_000), (10_000, 209), (100_000, 32)])
    func longURL(length: Int, count: Int) throws {
        let start = "http://h/"
        let url = try #require(URL(string: start + String(repeating: "a", count: length - start.count)))
        let field = String(repeating: "<x>; rel=prev; anchor=\"\", ", count: 2_000)
        #expect(links(field, at: url).count == count)
    }

    @Test("links print without secrets")
    func description() {
        let link = links("</a?token=hunter2>; rel=\"next last\"", at: here).first
        #expect(link?.description == "next last: http://example.com/a?token=<redacted>")
        var dumped = ""
        dump(link, to: &dumped)
        #expect(!dumped.contains("hunter2"))
    }

    @Test("only a 2xx response has a next page", arguments: [200, 206, 304, 404, 500])
    func statuses(status: Int) throws {
        let next = try NetworkResponse(statusCode: status, headers: ["Link": "</a#b>; rel=next"], url: here).nextPage()
        #expect(next?.absoluteString == (status < 300 ? "http://example.com/a" : nil))
    }
}
