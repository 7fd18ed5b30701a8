import Foundation

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

    /// Fails a request that requires a sign-in, of which there is none.
    package func checkSignIn() throws(NetworkError) {
        guard options.authentication == .required else { return }
        throw NetworkError(
            .cannotAuthenticate, reason: "nobody has signed in, and the request requires it: the provider gave nil")
    }
}
