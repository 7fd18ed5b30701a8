import Foundation
import Switchboard
import SwitchboardCache

// cache-run churn FOLDER LIMIT FILES: stores, reads, streams, downloads into the folder FILES and removes until it is
// killed. Prints `N` after each 20 answers.
// cache-run check FOLDER LIMIT FILES: reads everything that is stored or downloaded. Prints `answers wrong bytes`.
// cache-run fill|first|hits|lookups|memory-hits|disk-hits FOLDER COUNT SIZE: stores COUNT bodies of SIZE bytes, or measures them.
let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 3, let number = Int(words[2]) else { exit(64) }
let folder = URL(fileURLWithPath: words[1])
let files = URL(fileURLWithPath: words.count > 3 ? words[3] : words[1])
let measure = Measure(folder: folder, count: number, size: words.count > 3 ? Int(words[3]) ?? 0 : 0)

/// Prints a line at once, because the program may be killed.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

switch words[0] {
case "churn":
    let churn = try Churn(folder, limit: number, files: files)
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
    let churn = try Churn(folder, limit: number, files: files)
    let (answers, wrong) = await churn.checkAll()
    print(answers, wrong, await churn.cache.usage.disk)
case "fill": try await measure.fill()
case "first": try await measure.first()
case "hits": try await measure.hits()
case "lookups": try await measure.lookups()
case "memory-hits": try await measure.repeatHits(memoryLimit: 1 << 30)
case "disk-hits": try await measure.repeatHits(memoryLimit: 0)
default: exit(64)
}
