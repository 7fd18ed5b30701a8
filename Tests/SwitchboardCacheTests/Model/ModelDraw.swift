import SwitchboardTestSupport
import Foundation

/// Draws requests and the pauses before them.
struct ModelDraw {
    var random: SeededGenerator
    /// The number of paths. Fewer paths meet more often.
    let paths: Int
    private var number = 0

    init(seed: UInt64, paths: Int) {
        random = SeededGenerator(seed: seed)
        self.paths = paths
    }

    /// Draws the seconds before the next request.
    mutating func pause() -> Double {
        if random.oneIn(500) { return 200_000 }
        if random.oneIn(50) { return 1_000 }
        return [0, 0, 0, 0, 0, 0, 0, 0.5, 1, 1, 1, 2, 5, 10, 30].randomElement(using: &random)!
    }

    mutating func request() -> ModelRequest {
        number += 1
        let host = random.oneIn(12) ? "b.example" : "a.example"
        let path = "/\(Int.random(in: 0..<paths, using: &random))"
        let query = random.oneIn(4) ? "?q=1" : ""
        var method = "GET"
        if random.oneIn(10) { method = "HEAD" }
        if random.oneIn(14) { method = ["POST", "PUT", "DELETE", "PATCH", "PURGE"].randomElement(using: &random)! }
        if random.oneIn(80) { method = "OPTIONS" }
        let spelled = random.oneIn(10) ? "https://\(host.uppercased()):443\(path)\(query)#x" : nil
        let url = "https://\(host)\(path)\(query)"
        var fields: [String: String] = ["X-User": random.oneIn(6) ? "ben" : "anna"]
        fields["Accept-Language"] = ["de", "fr", nil].randomElement(using: &random)!
        fields["X-Color"] = ["red", "red", "blue", nil].randomElement(using: &random)!
        let isTyped = random.oneIn(2)
        let directives = directives()
        return ModelRequest(
            number: number, method: method, url: url, spelling: spelled ?? url,
            partition: random.oneIn(10) ? "qa" : nil, fields: fields, directives: directives, isTyped: isTyped,
            lifetime: lifetime(), policy: policy(), staleIfError: random.oneIn(20) ? seconds() : nil,
            staleWhileRevalidate: random.oneIn(20) ? seconds() : nil, usesHeuristics: !random.oneIn(12))
    }

    private mutating func seconds() -> Double {
        [0, 1, 5, 30, 60, 300, 5_000].randomElement(using: &random)!
    }

    private mutating func directives() -> [String] {
        guard random.oneIn(3) else { return [] }
        var all: [String] = []
        if random.oneIn(5) { all.append("max-age=\(Int(seconds()))") }
        if random.oneIn(5) { all.append(random.oneIn(3) ? "max-stale" : "max-stale=\(Int(seconds()))") }
        if random.oneIn(5) { all.append("min-fresh=\(Int(seconds()))") }
        if random.oneIn(8) { all.append("no-cache") }
        if random.oneIn(10) { all.append("no-store") }
        if random.oneIn(8) { all.append("only-if-cached") }
        return all
    }

    private mutating func lifetime() -> ModelRequest.Lifetime {
        guard random.oneIn(7) else { return .server }
        return [.none, .unlimited, .time(seconds()), .time(seconds())].randomElement(using: &random)!
    }

    private mutating func policy() -> ModelRequest.Policy {
        guard random.oneIn(14) else { return .normal }
        return [.reload, .revalidate, .any, .only].randomElement(using: &random)!
    }
}
