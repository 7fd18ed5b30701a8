import Foundation
import Switchboard
import SwitchboardTesting
import Testing

/// Records from an independent server, and plays without it.
@Suite(.timeLimit(.minutes(10)))
struct CassetteHTTPBinTests {
    private static let base = ProcessInfo.processInfo.environment["SWITCHBOARD_HTTPBIN"]
    private static let token = "tok-4f9/2+c&7 é"
    private static let encoded = "tok-4f9%2F2%2Bc%267%20%C3%A9"

    private static func requests(_ base: String) -> [NetworkRequest] {
        let bearer: HTTPHeaders = ["Authorization": "Bearer \(token)"]
        let basic = Data("someone:\(token)".utf8).base64EncodedString()
        return [
            NetworkRequest(text: base + "/get?page=1&api_key=\(encoded)", headers: bearer),
            NetworkRequest(text: base + "/anything/\(encoded)", headers: bearer),
            NetworkRequest(text: base + "/basic-auth/someone/\(encoded)", headers: ["Authorization": "Basic \(basic)"]),
            NetworkRequest(.post, text: base + "/post", body: JSONBody(["title": "é", "password": token])),
            NetworkRequest(
                .post, text: base + "/post", body: FormBody(["title": "é", "password": token] as Parameters)),
            NetworkRequest(
                .post, text: base + "/post", headers: bearer, body: DataBody(Data([0, 255]) + Data(token.utf8))),
            NetworkRequest(text: base + "/bytes/1000?seed=7"), NetworkRequest(text: base + "/image/png"),
            NetworkRequest(text: base + "/gzip", headers: bearer), NetworkRequest(text: base + "/status/418"),
            NetworkRequest(text: base + "/response-headers?X-Tag=a&X-Tag=b"),
            NetworkRequest(text: base + "/cookies/set?flavour=chocolate"),
            NetworkRequest(.head, text: base + "/get"), NetworkRequest(text: base + "/encoding/utf8"),
        ]
    }

    @Test(
        "plays httpbin's answers back equal, and the file has no secret",
        .enabled(if: base != nil, "left out without httpbin: run scripts/oracles/with-httpbin swift test"))
    func roundTrip() async throws {
        let base = try #require(Self.base)
        try await withFile { file in
            let requests = Self.requests(base)
            let live = try await Cassette(file: file, mode: .rewrite).run { cassette in
                var responses: [NetworkResponse] = []
                for request in requests { responses.append(try await cassette.send(request)) }
                return responses
            }
            try keep(file)
            try await Cassette(file: file, mode: .strict, recording: NoNetwork()).run { cassette in
                for (request, live) in zip(requests, live) {
                    let played = try await cassette.send(request)
                    #expect(played.statusCode == live.statusCode, "\(request)")
                    #expect(played.headers.map(\.name) == live.headers.map(\.name), "\(request)")
                    // Answers with secrets differ.
                    if !Self.holdsSecret(live) {
                        #expect(played.headers == live.headers, "\(request)")
                        #expect(played.body == live.body, "\(request)")
                    } else {
                        #expect(!Self.holdsSecret(played), "\(request)")
                    }
                }
            }
            #expect(live.filter { !Self.holdsSecret($0) }.count >= 7)
            #expect(live[0].text.contains("Bearer"))
            let text = try Archive(file).text
            let data = Data(Self.token.utf8)
            for trace in [
                Self.token, Self.encoded, "tok-4f9", data.base64EncodedString(), "tok-4f9/2+c", "u00e9\"",
                Data("someone:\(Self.token)".utf8).base64EncodedString(), "chocolate",
                Data((Data([0, 255]) + data)).base64EncodedString(),
            ] { #expect(!text.contains(trace), "\(trace)") }
        }
    }

    @Test(
        "plays redirects that a router follows",
        .enabled(if: base != nil, "left out without httpbin: run scripts/oracles/with-httpbin swift test"))
    func redirects() async throws {
        let base = try #require(Self.base)
        let url = try #require(
            URL(string: base + "/redirect-to?url=/anything%3Ftoken%3D\(Self.encoded)&status_code=307"))
        try await withFile { file in
            var texts: [NetworkResponse] = []
            for (mode, session) in [(Cassette.Mode.rewrite, DefaultSession.shared), (.strict, NoNetwork())] {
                try await Cassette(file: file, mode: mode, recording: session).run { cassette in
                    let router = Router<URLEndPoint>(session: cassette)
                    texts.append(
                        try await router.response(for: URLEndPoint(.post, url, task: .requestBody(JSONBody(["n": 1])))))
                }
            }
            let archive = try Archive(file)
            #expect(archive.entries.count == 2)
            #expect(archive.value("response.status") as? Int == 307)
            #expect(archive.value("response.status", of: 1) as? Int == 200)
            #expect(texts.map(\.statusCode) == [200, 200])
            #expect(texts[0].text.contains(#""n": 1"#) && texts[1].text.contains(#""n": 1"#))
            #expect(!archive.text.contains("tok-4f9"))
        }
    }

    /// Returns whether the answer contains a secret: the token, or the cookie that it sets.
    private static func holdsSecret(_ response: NetworkResponse) -> Bool {
        let text = response.text + response.headers.map(\.value).joined(separator: " ")
        return ["tok-4f9", "chocolate", "dG9rLTRm", "Bearer"].contains { text.contains($0) }
    }

    /// Copies the archive to the folder where a script inspects it.
    private func keep(_ file: URL) throws {
        guard let folder = ProcessInfo.processInfo.environment["SWITCHBOARD_HAR_FOLDER"] else { return }
        try Data(contentsOf: file).write(to: URL(fileURLWithPath: folder).appendingPathComponent("httpbin.har"))
    }
}
