import Switchboard

// Requests that do not require a credential; see `RequestOptions.authentication`.
extension AuthenticationInterceptor {
    /// Whether a request that got no credential is sent without one: it is not required, and nobody is signed in, or no
    /// longer. A failure that may pass does not sign anybody out.
    func goesWithoutCredential(_ request: NetworkRequest, after error: any Error) -> Bool {
        guard request.options.authentication == .optional, !(error is CancellationError),
            error is NobodySignedIn || isSignedOut(space(of: request))
        else { return false }
        request.report(.authentication("not signed in; sent without a credential"))
        return true
    }

    /// Whether nobody is signed in, and none was saved.
    func isSignedOut(_ space: Space) -> Bool {
        space.isLoaded && space.held == nil
    }
}
