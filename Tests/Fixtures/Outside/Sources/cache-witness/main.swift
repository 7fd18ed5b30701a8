import Foundation
import Switchboard
import SwitchboardCache

// cache-witness --origin URL --nginx URL --folder FOLDER [--exchanges N] [--seed S]: makes N random calls through caches in
// memory and on disk to two origins, for scripts/oracles/cache. Prints a line of JSON for each: the request and the answer.
var arguments: [String: String] = ["--exchanges": "2000", "--seed": "1"]
let words = Array(CommandLine.arguments.dropFirst())
for index in stride(from: 0, to: words.count - 1, by: 2) { arguments[words[index]] = words[index + 1] }
guard words.count % 2 == 0, let count = Int(arguments["--exchanges"] ?? ""),
    let seed = UInt64(arguments["--seed"] ?? ""), let origin = arguments["--origin"], let nginx = arguments["--nginx"],
    let folder = arguments["--folder"]
else {
    exit(64)
}

let clock = Clock()
let user: ResponseCache.Identity = { $0.headers["X-User"] }
let configuration: SessionConfiguration = {
    var configuration = SessionConfiguration()
    configuration.proxy = .none
    return configuration
}()
let session = DefaultSession.make(configuration)
var draw = SeededGenerator(seed: seed)
let ends = Ends()

/// Makes a part of the calls through one cache.
@MainActor
func run(_ share: Double, _ name: String, _ cache: ResponseCache, isFake: Bool = true, width: Int = 1) async {
    let calls = Calls(
        router: Router(session: session, exchangeInterceptors: [cache]), base: isFake ? origin : nginx, cache: name,
        width: width, clock: isFake ? clock : nil, ends: ends)
    await withTaskGroup(of: Void.self) { group in
        for index in 0..<Int(Double(count) * share) {
            if index >= width { await group.next() }
            let plan = Plan(&draw, isFake: isFake)
            if isFake { clock.advance(by: plan.pause) }
            group.addTask { await calls.run(plan) }
        }
    }
    await ends.waitForRevalidations()
}

func disk(_ name: String, now: @escaping @Sendable () -> Date) throws -> ResponseCache {
    try ResponseCache(folder: URL(fileURLWithPath: "\(folder)/\(name)"), identity: user, now: now)
}

await run(0.35, "memory", ResponseCache(identity: user, now: { clock.now }))
for _ in 1...2 {  // The second cache begins with the files of the first.
    await run(0.1, "disk", try disk("origin", now: { clock.now }))
}
await run(0.15, "memory by 16", ResponseCache(identity: user, now: { clock.now }), width: 16)
await run(0.15, "nginx, memory", ResponseCache(identity: user), isFake: false)
await run(0.1, "nginx, disk", try disk("nginx", now: { Date() }), isFake: false)
await run(0.05, "nginx by 16", ResponseCache(identity: user), isFake: false, width: 16)
