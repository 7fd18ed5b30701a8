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

    /// Why no credentials are added, for a plan.
    func reasonAgainstCredentials(for origins: CredentialOrigins) -> String {
        options.authentication == .none
            ? "adds no credentials: the request wants none" : "adds no credentials: they are not for this origin"
    }
}
