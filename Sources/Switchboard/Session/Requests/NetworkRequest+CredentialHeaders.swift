import SwitchboardText

extension NetworkRequest {
    /// Whether this field was written by an interceptor of credentials, whatever its name.
    package func carriesCredentials(in header: String) -> Bool {
        self[CredentialHeadersOption.self].contains { $0.equalsIgnoringCase(header) }
    }

    /// Notes that a field holds a credential.
    package mutating func noteCredential(in name: String) {
        if !carriesCredentials(in: name) { self[CredentialHeadersOption.self].append(name) }
    }

    /// A redaction that knows these fields too.
    package func redaction(over redaction: Redaction) -> Redaction {
        let names = self[CredentialHeadersOption.self]
        return names.isEmpty || redaction.isNone ? redaction : redaction.adding(headerNames: names)
    }
}

private enum CredentialHeadersOption: RequestOption { static let defaultValue: [String] = [] }
