import Foundation
import Switchboard
import SwitchboardWebSocket

/// Talks to an echo server: `websocket-run URL MESSAGES [deflate]`. Prints `ok NAME` or `failed NAME: WHY` for each check.
/// The server closes with 1001 after the text `close`, and sends the texts of `fragments A B` in fragments.
@main struct Program {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count > 2, let url = URL(string: arguments[1]), let count = Int(arguments[2]) else { exit(64) }
        let run = Run(url: url, messages: count, isCompressed: arguments.contains("deflate"))
        var hasFailed = false
        for (name, check) in run.checks {
            do {
                try await check()
                print("ok \(name)")
            } catch {
                hasFailed = true
                print("failed \(name): \(error)")
            }
        }
        exit(hasFailed ? 1 : 0)
    }
}

struct Mismatch: Error {
    let text: String
}

func expect(_ isTrue: Bool, _ text: @autoclosure () -> String) throws {
    if !isTrue { throw Mismatch(text: text()) }
}
