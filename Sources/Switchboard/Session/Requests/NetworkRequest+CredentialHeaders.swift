import SwitchboardText

extension NetworkRequest {
    /// Returns whether an interceptor wrote a credential to this field, whatever its name.
    package func carriesCredentials(in header: String) -> Bool {
        self[CredentialHeadersOption.self].contains { $0.equalsIgnoringCase(header) }
    }

    /// Marks a field as a credential.
    package mutating func noteCredential(in name: String) {
        if !carriesCredentials(in: name) { self[CredentialHeadersOption.self].append(name) }
    }

    /// Returns a redaction that also contains these fields.
    package func redaction(over redaction: Redaction) -> Redaction {
        let names = self[CredentialHeadersOption.self]
        return names.isEmpty || redaction.isNone ? redaction : redaction.adding(headerNames: names)
    }
}

private enum CredentialHeadersOption: RequestOption { static let defaultValue: [String] = [] }
