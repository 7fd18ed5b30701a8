import Foundation
import SwitchboardText

extension NetworkRequest {
    /// Whether the request itself has credentials: an `Authorization` field, or a user in its URL.
    package var hasAuthorization: Bool {
        headers.contains("Authorization") || url?.withoutUserInfo.credentials != nil
    }

    /// Sets a header field that contains a credential. It is not sent to another origin, whatever its name.
    package mutating func setCredential(_ name: String, _ value: String) {
        headers.set(name, value)
        noteCredential(in: name)
    }

    /// Returns whether an interceptor may add credentials for these origins to the request.
    package func takesCredentials(for origins: CredentialOrigins) -> Bool {
        options.authentication != .none && origins.allow(self)
    }

    /// Returns whether an interceptor may add credentials that identify the user.
    package func takesSignIn(for origins: CredentialOrigins) -> Bool {
        options.authentication != .anonymous && takesCredentials(for: origins)
    }

    /// Records that an interceptor of sign-ins has handled this request: its response may belong to the user who signed
    /// in.
    package mutating func noteSignIn() { self[SignInDecision.self] = true }

    /// Whether such an interceptor has handled the request, with or without a credential.
    package var isSignInDecided: Bool { self[SignInDecision.self] }

    /// Throws for a request that requires a sign-in and is about to be sent without one. Secret fields that the app set
    /// itself count as a sign-in; the app's key does not. At another origin no sign-in is required.
    func checkSignInIsDecided() throws(NetworkError) {
        // A login sends the requests of its refresh without a credential, because they obtain it.
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

    /// Throws for a request that requires a sign-in when the provider returned no credential.
    package func checkSignIn() throws(NetworkError) {
        guard options.authentication == .required else { return }
        throw NetworkError(
            .cannotAuthenticate, reason: "the request requires a sign-in, and the credential provider returned nil")
    }
}

private enum SignInDecision: RequestOption { static let defaultValue = false }
