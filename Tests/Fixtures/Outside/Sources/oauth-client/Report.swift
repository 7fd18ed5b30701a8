import Switchboard

/// What passed and what did not.
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

/// What was not as it should be.
struct Mismatch: Error, CustomStringConvertible {
    let description: String
}

func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) throws {
    if !isTrue { throw Mismatch(description: what()) }
}

/// The code of what an authorization server said, when that is why a call failed.
func refusal(_ call: () async throws -> Void) async throws -> String {
    do {
        try await call()
    } catch let error as NetworkError {
        guard error.code == .cannotAuthenticate, let code = error.oauthError?.code else { throw error }
        return code.rawValue
    }
    throw Mismatch(description: "it was not refused")
}
