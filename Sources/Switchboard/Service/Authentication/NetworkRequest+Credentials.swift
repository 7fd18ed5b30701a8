import Foundation

extension NetworkRequest {
    /// Whether the request has credentials of its own: an `Authorization`, or a user in its URL.
    var hasAuthorization: Bool {
        headers.contains("Authorization") || url?.withoutUserInfo.credentials != nil
    }

    /// Writes a field with a credential: it does not go to another origin, whatever its name.
    mutating func setCredential(_ name: String, _ value: String) {
        headers.set(name, value)
        noteCredential(in: name)
    }

    /// Whether an interceptor that writes credentials for these origins has to do with the request at all.
    func takesCredentials(for origins: CredentialOrigins) -> Bool {
        options.authentication != .none && origins.allow(self)
    }

    /// The same for an interceptor whose credentials say who is asking.
    func takesSignIn(for origins: CredentialOrigins) -> Bool {
        options.signIn != .none && takesCredentials(for: origins)
    }

    /// Fails a request that requires a sign-in, of which there is none.
    func checkSignIn() throws(NetworkError) {
        guard options.signIn == .required else { return }
        throw NetworkError(
            .cannotAuthenticate, reason: "nobody has signed in, and the request requires it: the provider gave nil"
        ).attributed(to: self)
    }
}
