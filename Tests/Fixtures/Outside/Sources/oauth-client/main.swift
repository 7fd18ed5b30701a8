import SwitchboardAuth
import Foundation
import Switchboard

// oauth-client URL FOLDER: runs the flows of OAuth 2 against scripts/oracles/oauth-provider.
// Ends with `N passed, N failed`.
guard CommandLine.arguments.count == 3, let provider = URL(string: CommandLine.arguments[1]) else {
    print("usage: oauth-client URL FOLDER")
    exit(64)
}
let folder = URL(fileURLWithPath: CommandLine.arguments[2])
var sessions: [(String, any NetworkSession)] = [("FoundationSession", FoundationSession())]
#if os(Linux)
sessions.append(("CurlSession", CurlSession()))
#endif

let report = Report()
for (name, session) in sessions {
    let flows = Flows(provider: provider, session: session, file: folder.appendingPathComponent("\(name).tokens"))
    await report.run("\(name): login by code, PKCE and state", flows.login)
    await report.run("\(name): a redirect with another state, and a login that is refused", flows.refusedLogin)
    await report.run("\(name): another verifier is refused", flows.wrongVerifier)
    await report.run("\(name): a code is good for once", flows.codeTwice)
    await report.run("\(name): refresh with rotation, the old refresh token is refused", flows.rotation)
    await report.run("\(name): client credentials, by Basic and in the body", flows.clientCredentials)
    await report.run("\(name): a wrong secret is refused", flows.wrongSecret)
    await report.run("\(name): 100 requests meet an expired token: one refresh", flows.concurrent)
    await report.run("\(name): the saved token is used by a second client", flows.saved)
    await report.run("\(name): revocation, then 401", flows.revocation)
    await report.run("\(name): after a revoked refresh token nobody is signed in", flows.revokedWhileInUse)
}
print("\(report.passed) passed, \(report.failed) failed")
exit(report.failed == 0 ? 0 : 1)
