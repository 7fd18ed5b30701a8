import Foundation
import Switchboard
import SwitchboardCache

// cache-run churn FOLDER LIMIT FILES: stores, reads, streams, downloads into the folder FILES and removes until it is
// killed. Prints `N` after each 20 answers.
// cache-run check FOLDER LIMIT FILES: reads everything that is stored or downloaded. Prints `answers wrong bytes`.
let words = Array(CommandLine.arguments.dropFirst())
guard words.count == 4, let limit = Int(words[2]) else { exit(64) }
let churn = try Churn(URL(fileURLWithPath: words[1]), limit: limit, files: URL(fileURLWithPath: words[3]))

/// Prints a line at once, because the program may be killed.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

switch words[0] {
case "churn":
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
            group.addTask {
                var answers = 0
                while true {
                    do {
                        guard let isWhole = try await churn.step() else { continue }
                        guard isWhole else {
                            say("wrong")
                            exit(3)
                        }
                    } catch {
                        say("error \(error)")
                        exit(4)
                    }
                    answers += 1
                    if answers % 20 == 0 { say("20") }
                }
            }
        }
    }
case "check":
    let (answers, wrong) = await churn.checkAll()
    print(answers, wrong, await churn.cache.usage.disk)
default: exit(64)
}
