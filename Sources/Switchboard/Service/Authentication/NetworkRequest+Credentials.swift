import Foundation
import SwitchboardText

extension NetworkRequest {
    /// Whether the request has credentials of its own: an `Authorization`, or a user in its URL.
    package var hasAuthorization: Bool {
        headers.contains("Authorization") || url?.withoutUserInfo.credentials != nil
    }

    /// Writes a field with a credential: it does not go to another origin, whatever its name.
    package mutating func setCredential(_ name: String, _ value: String) {
        headers.set(name, value)
        noteCredential(in: name)
    }

    /// Whether an interceptor that writes credentials for these origins has to do with the request at all.
    package func takesCredentials(for origins: CredentialOrigins) -> Bool {
        options.authentication != .none && origins.allow(self)
    }

    /// The same for an interceptor whose credentials say who is asking.
    package func takesSignIn(for origins: CredentialOrigins) -> Bool {
        options.authentication != .anonymous && takesCredentials(for: origins)
    }

    /// Notes that an interceptor of sign-ins decides about this request: whoever has signed in, its answer may be theirs.
    package mutating func noteSignIn() { self[SignInDecision.self] = true }

    /// Whether such an interceptor has decided, for a credential or for none.
    package var isSignInDecided: Bool { self[SignInDecision.self] }

    /// Fails a request that requires a sign-in, and that is about to be sent without one. What the app itself wrote counts;
    /// the key of an app does not, and at another origin there is none to be had.
    func checkSignInIsDecided() throws(NetworkError) {
        // A login lets the requests of its own refresh pass: they are how a sign-in comes to be.
        guard options.authentication == .required, !CredentialRefresh.isRunning, !isSignInDecided, !hasAuthorization,
            !hasLeftOrigin,
            !headers.contains(where: {
                Redaction.standard.isSecret(header: $0.name) && !carriesCredentials(in: $0.name)
            })
        else { return }
        throw NetworkError(
            .cannotAuthenticate,
            reason: "the request requires a sign-in, and no interceptor signs in to its origin: add one, such as "
                + "AuthenticationInterceptor or BearerAuth")
    }

    /// Fails a request that requires a sign-in, of which there is none.
    package func checkSignIn() throws(NetworkError) {
        guard options.authentication == .required else { return }
        throw NetworkError(
            .cannotAuthenticate, reason: "the request requires a sign-in, and the credential provider returned nil")
    }
}

private enum SignInDecision: RequestOption { static let defaultValue = false }
