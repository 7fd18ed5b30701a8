import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardPlatform

/// A server whose answers are drawn, and which evaluates conditions. It records each exchange.
final class ModelOrigin: NetworkSession, Sendable {
    /// A representation of a resource. Each version has its own validators.
    struct Content: Sendable {
        var version: Int
        var tag: String?
        var changed: Double?
    }

    struct State: Sendable {
        var random: SeededGenerator
        var contents: [String: Content] = [:]
        /// The times of change of a resource. No two contents share one: a 304 with it could confirm either.
        var changes: [String: Set<Double>] = [:]
        var serial = 0
        var versions = 0
        /// The number of further exchanges that fail.
        var failing = 0
    }

    static let start = 1_700_000_000.0

    private let state: Protected<State>
    private let date: TestDate
    private let history: ModelHistory
    private let isSlow: Bool

    /// Creates an origin. The exchanges of a slow one take several turns of the scheduler, so that they overlap.
    init(seed: UInt64, _ date: TestDate, _ history: ModelHistory, isSlow: Bool) {
        state = Protected(State(random: SeededGenerator(seed: seed ^ 0xA5A5)))
        (self.date, self.history, self.isSlow) = (date, history, isSlow)
    }

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        let (begin, sent) = (history.tick(), date.now.timeIntervalSince1970)
        await pause()
        let (exchange, response) = state.withLock { state in
            if state.random.oneIn(6) { date.advance(by: [0.5, 1, 3].randomElement(using: &state.random)!) }
            let now = date.now.timeIntervalSince1970
            state.serial += 1
            let (status, headers, version) = state.answer(to: request, at: now)
            let exchange = ModelExchange(
                serial: state.serial, call: Int(request.headers["X-Request-ID"] ?? "") ?? 0,
                method: request.method.rawValue,
                isConditional: request.headers.contains("If-None-Match")
                    || request.headers.contains("If-Modified-Since"),
                status: status, fields: ModelFields(headers), version: version, sent: sent, arrived: now,
                begin: begin, end: history.tick())
            history.record(exchange)
            let hasBody = request.method != .head && status != 304
            let body = hasBody ? Data("\(version) for \(request.headers["X-User"] ?? "")".utf8) : Data()
            return (exchange, NetworkResponse(statusCode: status ?? 0, headers: headers, body: body, url: request.url))
        }
        // Some answers are long on the way.
        await pause(exchange.serial.isMultiple(of: 5) ? 60 : 8)
        if exchange.status == nil { throw NetworkError([.cannotConnect, .timedOut][exchange.serial % 2]) }
        return response
    }

    private func pause(_ most: Int = 8) async {
        guard isSlow else { return }
        for _ in 0..<state.withLock({ Int.random(in: 0..<most, using: &$0.random) }) { await Task.yield() }
    }
}

extension ModelOrigin.State {
    /// Returns the status, the fields and the version of the content.
    mutating func answer(to request: NetworkRequest, at now: Double) -> (Int?, HTTPHeaders, Int) {
        let isSafe = [.get, .head, .options].contains(request.method)
        let content = content(for: request, isChanged: !isSafe || random.oneIn(5), at: now)
        if failing == 0, random.oneIn(25) { failing = Int.random(in: 1...6, using: &random) }
        var headers: HTTPHeaders = ["X-Serial": "\(serial)"]
        var status = [200, 200, 200, 200, 200, 200, 200, 200, 203, 404, 410, 403].randomElement(using: &random)!
        if random.oneIn(3) { status = 200 }
        if failing > 0 {
            failing -= 1
            if random.oneIn(3) { return (nil, headers, content.version) }
            status = [500, 503, 503, 504].randomElement(using: &random)!
        }
        if !isSafe {
            let targets = ["/1", "https://a.example/2", "https://b.example/3", "//other.example/1"]
            if random.oneIn(3) { headers.add("Location", targets.randomElement(using: &random)!) }
            if random.oneIn(3) { headers.add("Content-Location", targets.randomElement(using: &random)!) }
            if random.oneIn(6) { status = 400 }
            return (status, headers, content.version)
        }
        addRules(to: &headers, status, request, at: now)
        guard status < 400 else { return (status, headers, content.version) }
        if let tag = content.tag { headers.add("ETag", tag) }
        if let changed = content.changed { headers.add("Last-Modified", ModelDate.text(changed)) }
        if request.method != .options, isCurrent(content, request) {
            if random.oneIn(10) { headers.remove("ETag") }
            return (304, headers, content.version)
        }
        if random.oneIn(3) {
            headers.add("Content-Length", "\("\(content.version) for \(request.headers["X-User"] ?? "")".utf8.count)")
        }
        return (status, headers, content.version)
    }

    private mutating func content(for request: NetworkRequest, isChanged: Bool, at now: Double) -> ModelOrigin.Content {
        let resource = "\(request.host.lowercased())\(request.path)?\(request.query ?? "")"
        // The contents of even paths differ by language, and only by language.
        let language = (request.path.utf8.last ?? 0) % 2 == 0 ? request.headers["Accept-Language"] ?? "-" : ""
        let name = "\(resource) \(request.headers["X-User"] ?? "") \(language)"
        if let content = contents[name], !isChanged { return content }
        versions += 1
        let kind = Int.random(in: 0..<8, using: &random)
        let tag = kind < 4 ? "\"v\(versions)\"" : kind == 4 ? "W/\"v\(versions)\"" : nil
        let ages: [Double] = [10, 100, 1_000, 20_000, 5_000_000]
        let last = now.rounded(.down) - ages.randomElement(using: &random)!
        var changed = kind.isMultiple(of: 2) || kind == 5 ? max(last, (contents[name]?.changed ?? 0) + 1) : nil
        while let time = changed, !changes[resource, default: []].insert(time).inserted { changed = time + 1 }
        let content = ModelOrigin.Content(version: versions, tag: tag, changed: changed)
        contents[name] = content
        return content
    }

    private func isCurrent(_ content: ModelOrigin.Content, _ request: NetworkRequest) -> Bool {
        let fields = ModelFields(request.headers)
        let tags = fields.members("if-none-match")
        guard tags.isEmpty else {
            func bare(_ tag: String) -> String { tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag }
            return content.tag.map { tag in tags.contains { bare($0) == bare(tag) } } ?? false
        }
        return content.changed.map { fields["if-modified-since"] == ModelDate.text($0) } ?? false
    }

    /// Adds the fields that state how the response may be stored.
    private mutating func addRules(
        to headers: inout HTTPHeaders, _ status: Int, _ request: NetworkRequest, at now: Double
    ) {
        let seconds = [0, 1, 5, 30, 60, 300, 86_400]
        var control: [String] = []
        func draw(_ one: Int, _ text: String, _ random: inout SeededGenerator) {
            if random.oneIn(one) { control.append(text) }
        }
        if !random.oneIn(3) { control.append("max-age=\(seconds.randomElement(using: &random)!)") }
        draw(7, "must-revalidate", &random)
        draw(5, "stale-while-revalidate=\(seconds.randomElement(using: &random)!)", &random)
        draw(3, "stale-if-error=\(seconds.randomElement(using: &random)!)", &random)
        draw(14, "no-cache", &random)
        draw(16, "no-store", &random)
        draw(12, "private", &random)
        draw(12, "public", &random)
        draw(16, "immutable", &random)
        if !control.isEmpty { headers.add("Cache-Control", control.joined(separator: ", ")) }
        if random.oneIn(3) {
            let times = [-10, 0, 1, 30, 600].map { ModelDate.text(now + $0) } + ["0"]
            headers.add("Expires", times.randomElement(using: &random)!)
        }
        if !random.oneIn(6) {
            let shift: Double = random.oneIn(6) ? [-40, -5, -1, 3].randomElement(using: &random)! : 0
            headers.add("Date", ModelDate.text(now + shift))
        }
        if random.oneIn(7) { headers.add("Age", "\([0, 1, 20, 100].randomElement(using: &random)!)") }
        addVary(to: &headers, request)
    }

    private mutating func addVary(to headers: inout HTTPHeaders, _ request: NetworkRequest) {
        let all = ["", "Accept-Language", "X-Color", "accept-language, X-Color"]
        // A path has its own field, from which few answers differ.
        var vary = all[Int(request.path.utf8.last ?? 0) % 4]
        if random.oneIn(16) { vary = (all + ["*"]).randomElement(using: &random)! }
        if !vary.isEmpty { headers.add("Vary", vary) }
    }
}
