import Foundation
import Switchboard
import SwitchboardAuth
import SwitchboardCookies
import SwitchboardHAR
import SwitchboardMocks

extension Scene {
    static let tokens = Scene(
        name: "tokens",
        prepare: { try await FileTokenStore($0.file("tokens/tokens.json")).save(.old, in: nil) },
        run: { place in
            let store = FileTokenStore(place.file("tokens/tokens.json"))
            try await store.save(.new, in: nil)
            try await store.save(.new, in: "test")
            try await store.remove(in: "test")
            try Wrong.unless(try await store.load(in: nil) == .new, "the store has another token after save")
        },
        verify: { place, hasSucceeded in
            let store = FileTokenStore(place.file("tokens/tokens.json"))
            let token = try await store.load(in: nil)
            try Wrong.unless(
                token == .new || token == .old && !hasSucceeded, "the token is \(String(describing: token))")
            try await store.save(.old, in: nil)
            try Wrong.unless(try await store.load(in: nil) == .old, "the next save has no effect")
            try await store.removeAll()
        },
        recover: { place in
            let token = try await FileTokenStore(place.file("tokens/tokens.json")).load(in: nil)
            try Wrong.unless(token == .new || token == .old, "the token is \(String(describing: token))")
        })

    static let cookies = Scene(
        name: "cookies",
        prepare: { try jar("old").save(to: $0.file("cookies.json")) },
        run: { place in
            try jar("new").save(to: place.file("cookies.json"))
            try Wrong.unless(value(in: try CookieJar(contentsOf: place.file("cookies.json"))) == "new", "no new cookie")
        },
        verify: { place, hasSucceeded in
            let found = value(in: try CookieJar(contentsOf: place.file("cookies.json")))
            try Wrong.unless(found == "new" || found == "old" && !hasSucceeded, "the cookie is \(found ?? "gone")")
            try jar("next").save(to: place.file("cookies.json"))
            try Wrong.unless(value(in: try CookieJar(contentsOf: place.file("cookies.json"))) == "next", "not saved")
        },
        recover: { place in
            let found = value(in: try CookieJar(contentsOf: place.file("cookies.json")))
            try Wrong.unless(found == "new" || found == "old", "the cookie is \(found ?? "gone")")
        })

    private static func jar(_ value: String) throws -> CookieJar {
        let jar = CookieJar()
        try jar.set(
            StoredCookie("name", value, domain: "a.example", expires: Date(timeIntervalSinceNow: 86_400)))
        return jar
    }

    private static func value(in jar: CookieJar) -> String? { jar.cookies().first?.value }

    static let archive = Scene(
        name: "archive",
        prepare: { try await record(1).write(to: $0.file("archive.har")) },
        run: { try await record(2).write(to: $0.file("archive.har")) },
        verify: { place, hasSucceeded in
            let count = try count(in: place)
            try Wrong.unless(count == 2 || count == 1 && !hasSucceeded, "the archive has \(count) entries")
            try await record(3).write(to: place.file("archive.har"))
            try Wrong.unless(try Self.count(in: place) == 3, "the next archive is not complete")
        },
        recover: { place in
            let count = try count(in: place)
            try Wrong.unless(count == 2 || count == 1, "the archive has \(count) entries")
        })

    private static func record(_ count: Int) async throws -> HARRecorder {
        let recorder = HARRecorder()
        let session = StubSession { _ in .data(Body.data(30_000)) }
        let router = Router<URLEndPoint>(session: session, monitors: [recorder])
        guard let url = URL(string: "https://a.example/") else { return recorder }
        for _ in 0..<count { _ = try await router.response(for: URLEndPoint(.get, url)) }
        return recorder
    }

    private static func count(in place: Place) throws -> Int {
        let object = try JSONSerialization.jsonObject(with: try Data(contentsOf: place.file("archive.har")))
        let log = (object as? [String: Any])?["log"] as? [String: Any]
        return (log?["entries"] as? [Any])?.count ?? 0
    }
}

extension OAuthToken {
    fileprivate static let old = OAuthToken(accessToken: "old", refreshToken: String(repeating: "r", count: 5_000))
    fileprivate static let new = OAuthToken(accessToken: "new", refreshToken: String(repeating: "s", count: 6_000))
}
