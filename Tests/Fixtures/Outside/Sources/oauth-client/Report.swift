import Switchboard

/// Counts and prints the flows that passed and that failed.
@MainActor final class Report {
    private(set) var passed = 0
    private(set) var failed = 0

    func run(_ name: String, _ flow: @Sendable () async throws -> Void) async {
        do {
            try await flow()
            passed += 1
            print("passed: \(name)")
        } catch {
            failed += 1
            print("FAILED: \(name): \(error)")
        }
    }
}

/// Returns the code of the authorization server's error that made a call fail.
func refusal(_ call: () async throws -> Void) async throws -> String {
    do {
        try await call()
    } catch let error as NetworkError {
        guard error.code == .cannotAuthenticate, let code = error.oauthError?.code else { throw error }
        return code.rawValue
    }
    throw Mismatch(description: "it was not refused")
}
