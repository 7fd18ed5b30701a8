import Foundation
import Glibc

/// Makes the calls of the C library fail, one after the other, below each part of the library.
/// `scripts/packages/torture` builds and runs it.
@main
enum Torture {
    private static let usage = """
        usage: torture list | SCENE [--at-most N] [--after CALL:N:ERROR] | SCENE:CALL:N:ERROR
               torture kill SCENE [--every N]
        """

    static func main() async {
        var words = CommandLine.arguments.dropFirst()
        guard let first = words.popFirst() else { stop(usage, 64) }
        if first == "serve" { Server.serve() }
        if first == "list" {
            print(Scene.all.map(\.name).joined(separator: "\n"))
            return
        }
        guard Shim.isLoaded else { stop("torture: LD_PRELOAD has no shim", 64) }
        let isKill = first == "kill"
        guard let name = isKill ? words.popFirst() : first else { stop(usage, 64) }
        let parts = name.split(separator: ":", maxSplits: 1)
        guard let scene = Scene.all.first(where: { $0.name == parts[0] }) else { stop(usage, 64) }
        var (every, most, last) = (1, Int.max, Fault?.none)
        while let option = words.popFirst() {
            let word = words.popFirst() ?? ""
            if option == "--after", let fault = Fault(word[...]) {
                last = fault
                continue
            }
            guard let value = Int(word), value > 0 else { stop(usage, 64) }
            switch option {
            case "--every" where isKill: every = value
            case "--at-most": most = value
            default: stop(usage, 64)
            }
        }
        let runner = Runner(scene, isKill: isKill)
        if isKill {
            await runner.kill(every: every)
        } else if parts.count == 2 {
            guard let fault = Fault(parts[1]) else { stop(usage, 64) }
            await runner.run(only: fault)
        } else {
            await runner.run(atMost: most, after: last)
        }
        runner.finish()
    }
}
