import Foundation
import Switchboard
import SwitchboardWebSocket

/// Talks to an echo server of scripts/oracles/servers/websocket_echo.py: `websocket-run URL MESSAGES MEBIBYTES AUTHORITY
/// [deflate]`. Prints `ok NAME` or `failed NAME: WHY` for each check.
@main struct Program {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count > 4, let url = URL(string: arguments[1]), let messages = Int(arguments[2]),
            let mebibytes = Int(arguments[3])
        else { exit(64) }
        let run = Run(
            url: url, messages: messages, mebibytes: mebibytes, authority: arguments[4],
            isCompressed: arguments.contains("deflate"))
        var hasFailed = false
        for (name, check) in run.checks {
            let start = ContinuousClock.now
            do {
                try await check()
                print("ok \(name) \(ContinuousClock.now - start)")
            } catch {
                hasFailed = true
                print("failed \(name): \(error)")
            }
        }
        exit(hasFailed ? 1 : 0)
    }
}
