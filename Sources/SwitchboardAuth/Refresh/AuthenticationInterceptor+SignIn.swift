import Switchboard
import SwitchboardPlatform

// Requests that do not require a credential; see `RequestOptions.authentication`.
extension AuthenticationInterceptor {
    /// Returns whether a request is sent without a credential: it requires none, and no user is signed in anymore. A
    /// temporary failure signs nobody out.
    func goesWithoutCredential(_ request: NetworkRequest, after error: any Error) -> Bool {
        guard request.options.authentication == .optional, !(error is CancellationError),
            error is NobodySignedIn || isSignedOut(space(of: request))
        else { return false }
        request.report(.authentication("not signed in; sent without a credential"))
        return true
    }

    /// Returns the end of an error's text when a user is signed in, but in no partition. Empty otherwise.
    func hint(about partition: String?) -> String {
        guard partition != nil, state.withLock({ $0.spaces[nil]?.held != nil }) else { return "" }
        return "; there is a sign-in without an environment (in: nil), which managers do not use"
    }

    /// Returns whether no user is signed in, and none was saved.
    func isSignedOut(_ space: Space) -> Bool {
        space.isLoaded && space.held == nil
    }
}
