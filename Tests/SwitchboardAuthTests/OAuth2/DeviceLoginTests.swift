@testable import SwitchboardAuth
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Logins by device code. The bodies are those of RFC 8628, sections 3.2 and 3.5.
struct DeviceLoginTests {
    private static let codes = """
        {"device_code":"GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS","user_code":"WDJB-MJHT",
        "verification_uri":"https://example.com/device",
        "verification_uri_complete":"https://example.com/device?user_code=WDJB-MJHT","expires_in":1800,"interval":5}
        """
    private static let token = #"{"access_token":"a1","token_type":"Bearer","expires_in":3600}"#

    private func client(_ session: StubSession) -> OAuth2Client {
        var client = OAuth2Client(
            id: "1406020730", tokenURL: URL(text: "https://example.com/token"), scope: "read", session: session)
        client.deviceAuthorizationURL = URL(text: "https://example.com/device_authorization")
        return client
    }

    private func error(_ code: String) -> MockResponse { .json(#"{"error":"\#(code)"}"#, statusCode: 400) }

    @Test("the token is requested at the interval until the user has signed in")
    func polls() async throws {
        let session = StubSession(
            .json(Self.codes), error("authorization_pending"), error("slow_down"), .failure(.timedOut),
            error("authorization_pending"), .json(Self.token))
        let (client, clock) = (client(session), TestClock(skips: true))
        let login = try await client.deviceLogin()
        #expect(login.userCode == "WDJB-MJHT" && login.page.absoluteString == "https://example.com/device")
        #expect(login.pageWithCode?.absoluteString == "https://example.com/device?user_code=WDJB-MJHT")
        #expect(login.lifetime == .seconds(1_800))
        let token = try await client.token(for: login, clock: clock)
        #expect(token.accessToken == "a1")
        #expect(clock.sleeps == [5, 5, 10, 20, 20].map { .seconds($0) })
        let forms = session.recordedRequests.map { FormBody.decode($0.body) }
        #expect(
            forms.first == [
                URLQueryItem(name: "scope", value: "read"), URLQueryItem(name: "client_id", value: "1406020730"),
            ])
        #expect(
            forms.last == [
                URLQueryItem(name: "grant_type", value: "urn:ietf:params:oauth:grant-type:device_code"),
                URLQueryItem(name: "device_code", value: "GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS"),
                URLQueryItem(name: "client_id", value: "1406020730"),
            ])
    }

    @Test("the time of the requests counts for the lifetime")
    func slowRequests() async throws {
        let (clock, codes) = (TestClock(skips: true), Self.codes.replacingOccurrences(of: "1800", with: "12"))
        let session = StubSession { [pending = error("authorization_pending")] request in
            if request.url?.path == "/device_authorization" { return .json(codes) }
            clock.advance(by: .seconds(8))
            return pending
        }
        let client = client(session)
        let login = try await client.deviceLogin()
        let error = await #expect(throws: NetworkError.self) { try await client.token(for: login, clock: clock) }
        #expect(error?.oauthError?.code == .expiredToken && session.requests.count == 2)
    }

    @Test("requests without a response do not end the wait for a login (RFC 8628 §3.5)")
    func offline() async throws {
        let codes = Self.codes.replacingOccurrences(of: "1800", with: "600")
        let session = StubSession(.json(codes))
        for _ in 0..<6 { session.enqueue(.failure(.timedOut)) }
        session.enqueue(.json(Self.token))
        let (client, clock) = (client(session), TestClock(skips: true))
        let login = try await client.deviceLogin()
        #expect(login.lifetime == .seconds(600))
        #expect(try await client.token(for: login, clock: clock).accessToken == "a1")
        #expect(clock.sleeps == [5, 10, 20, 40, 80, 160, 285].map { .seconds($0) })
    }

    @Test("an overloaded server does not end the wait for a login", arguments: [429, 500, 502, 503, 504])
    func overloaded(status: Int) async throws {
        let session = StubSession(
            .json(Self.codes), .status(status), error("authorization_pending"),
            .json(Self.token))
        let (client, clock) = (client(session), TestClock(skips: true))
        let login = try await client.deviceLogin()
        let token = try await client.token(for: login, clock: clock)
        #expect(token.accessToken == "a1")
        #expect(clock.sleeps == [5, 10, 10].map { .seconds($0) })
    }

    @Test("a refusal, an expired code and the end of the lifetime end the wait")
    func ends() async throws {
        for code in ["access_denied", "expired_token"] {
            let client = client(StubSession(.json(Self.codes), error("authorization_pending"), error(code)))
            let login = try await client.deviceLogin()
            let error = await #expect(throws: NetworkError.self) {
                try await client.token(for: login, clock: TestClock(skips: true))
            }
            #expect(error?.code == .cannotAuthenticate && error?.oauthError?.code.rawValue == code)
        }
        let pending = error("authorization_pending")
        let short = #"{"device_code":"d","user_code":"u","verification_url":"https://g.co/d","expires_in":"12"}"#
        let session = StubSession(.json(short), pending, pending)
        let login = try await client(session).deviceLogin()
        let error = await #expect(throws: NetworkError.self) {
            try await client(session).token(for: login, clock: TestClock(skips: true))
        }
        #expect(error?.oauthError?.code == .expiredToken && session.recordedRequests.count == 3)
    }

    @Test(
        "an answer without codes or page is refused",
        arguments: [
            "{}", #"{"device_code":"d","user_code":"u","verification_uri":"javascript:alert(1)"}"#, "[]",
            #"{"device_code":"","user_code":"u","verification_uri":"https://h/"}"#,
        ])
    func refused(answer: String) async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await client(StubSession(.json(answer))).deviceLogin()
        }
        #expect(error?.code == .decodingFailed)
    }

    @Test("a canceled wait ends at once, and no text shows the device code")
    func canceled() async throws {
        let client = client(StubSession(.json(Self.codes)))
        let login = try await client.deviceLogin()
        var dumped = ""
        dump(login, to: &dumped)
        #expect(!"\(login)\(String(reflecting: login))\(dumped)".contains("GmRh"))
        let clock = TestClock()
        let task = Task { try await client.token(for: login, clock: clock) }
        _ = try await clock.nextSleep()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("any grant is sent, and its error does not repeat its secrets")
    func grant() async throws {
        let session = StubSession(
            .json(Self.token),
            .json(#"{"error":"invalid_grant","error_description":"bad eyJhbGciOi"}"#, statusCode: 400))
        let client = client(session)
        let type = "urn:ietf:params:oauth:grant-type:jwt-bearer"
        #expect(try await client.token(grantType: type, parameters: ["assertion": "eyJhbGciOi"]).accessToken == "a1")
        #expect(
            FormBody.decode(session.recordedRequests[0].body) == [
                URLQueryItem(name: "grant_type", value: type), URLQueryItem(name: "assertion", value: "eyJhbGciOi"),
                URLQueryItem(name: "client_id", value: "1406020730"),
            ])
        let error = await #expect(throws: NetworkError.self) {
            try await client.token(grantType: type, parameters: ["assertion": "eyJhbGciOi"])
        }
        #expect(error?.oauthError?.code == .invalidGrant && error?.description.contains("eyJ") == false)
    }
}
