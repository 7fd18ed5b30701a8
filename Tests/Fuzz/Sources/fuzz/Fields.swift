import Foundation
@testable import Switchboard
@testable import SwitchboardAuth
@testable import SwitchboardStreams
@testable import SwitchboardText

extension Target {
    static let fields = [challenges, links, values, oauth]

    private static let challenges = Target("challenges") { bytes in
        let text = String(bytes)
        let challenges = AuthenticationChallenge.parse(text)
        for challenge in challenges {
            check(!challenge.scheme.isEmpty, "a challenge has no scheme")
            check(
                challenge.parameters.allSatisfy { $0.name == $0.name.lowercased() }, "\(challenge) has an upper case")
        }
        guard !text.breaksHead, let digest = try? DigestChallenge.strongest(of: challenges) else { return }
        let response = DigestResponse(challenge: digest, clientNonce: "n", count: 1)
        let value = try? response.value(for: BasicCredentials(user: "ann", password: "pass word"), .get, "/a?b")
        guard let value else { return }
        check(!value.breaksHead, "\(value.debugDescription) has two lines")
        let again = AuthenticationChallenge.parse(value)
        check(again.count == 1 && again[0]["realm"] == digest.realm, "\(value) has another realm")
        check(again[0]["nonce"] == digest.nonce, "\(value) has another nonce")
    } read: {
        _ = AuthenticationChallenge.parse(String($0))
    }

    private static let links = Target("links") { bytes in
        let text = String(bytes)
        let url = URL(string: "https://a.example/b")
        for value in LinkValue.values(in: [text]) {
            _ = value.hasContext(url)
            guard let link = value.link(from: url) else { continue }
            check(link.target.scheme != nil, "\(link) is relative")
            _ = link.title
        }
    } read: {
        _ = LinkValue.values(in: [String($0)])
    }

    private static let values = Target("fields") { bytes in
        let text = String(bytes)
        if let range = ContentRange(text) {
            check(ContentRange(range.description) == range, "\(range) differs when it is read again")
        }
        _ = (text.multipartBoundary, text.dispositionNames, text.mediaParameter("charset"), text.isForm)
        var quoted = FieldScanner("\"\(text)\"")
        let plain = text.utf8.allSatisfy { $0 != 0x22 && $0 != 0x5C }
        let (read, isClosed) = quoted.quotedString()
        check(!plain || isClosed && read == text, "\(text.debugDescription) in quotes is \(read)")
    } read: {
        _ = String($0).mediaParameter("boundary")
    }

    private static let oauth = Target("oauth") { bytes in
        let (body, secret) = (Data(bytes), "hunter2secret")
        do throws(NetworkError) {
            let token = try OAuthToken(response: body, at: Date(timeIntervalSince1970: 0), without: [secret])
            check(!token.accessToken.isEmpty, "an empty token")
            check(!"\(token)".contains(secret), "a token prints \(token)")
        } catch {
            check(!"\(error)".contains(secret), "an error prints the secret: \(error)")
        }
        if let error = OAuthError(response: body, without: [secret]) {
            check(!"\(error)".contains(secret), "an error prints the secret: \(error)")
        }
    } read: { bytes in
        _ = try? OAuthToken(response: Data(bytes), at: Date(), without: ["hunter2secret"])
    }
}
