import Foundation
import Switchboard

/// The state that scenes share: sessions, a server and a folder.
struct Stage: Sendable {
    let session: CurlSession
    private static let connections = 64
    /// A session with only two connections, so that requests wait for one.
    let narrow: CurlSession
    let base: String
    let fullPort: UInt16
    let folder: URL

    init(base: String, fullPort: UInt16) {
        session = CurlSession(configuration: .direct(connections: Self.connections))
        narrow = CurlSession(configuration: .direct(connections: 2))
        self.base = base
        self.fullPort = fullPort
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("soak-\(getpid())")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Opens as many connections as the sessions keep alive, so that they are counted.
    func openAllConnections(_ ledger: Ledger) async {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<Self.connections + 2 {
                group.addTask {
                    do {
                        let session = number < Self.connections ? session : narrow
                        try await answer("slow/300/\(number)", number, of: session)
                    } catch {
                        ledger.fault("while opening all connections: \(error)")
                    }
                }
            }
        }
    }

    /// Sends the scene's request, reads the response and checks every byte.
    func play(_ scene: Scene, _ random: inout SeededGenerator) async throws {
        let pause = random.number(0...4)
        let number = random.number(0...999_999)
        switch scene {
        case .small: try await answer("small/\(number)", number)
        case .slowHead: try await answer("slow/\(pause)/\(number)", number)
        case .queued: try await answer("slow/\(pause)/\(number)", number, of: narrow)
        case .slowBody: try await body("drip/4/\(pause)", 4_000)
        case .large: try await body("large/1000000", 1_000_000)
        case .stall: try await body("stall", 0)
        case .stallInside: try await body("stall-inside/100000", 100_000)
        case .cut: try await body("cut/100000", 100_000)
        case .drop: try await body("drop", 0)
        case .download: try await download("large/700000", 700_000, to: "\(number)")
        case .upload: try await upload(400_000, "take", length: 400_000)
        case .uploadInChunks: try await upload(400_000, "take", length: nil)
        case .uploadSlowly: try await upload(600_000, "take/\(pause)", length: 600_000)
        case .uploadFromMemory: try await uploadFromMemory(1_000_000)
        case .uploadWaiting: try await uploadWaiting()
        case .refused: try await refused()
        case .stream: try await stream("drip/4/\(pause)", 4_000)
        case .streamInPart: try await stream("large/3000000", 3_000_000, upTo: 100_000)
        case .streamPaused: try await stream("large/3000000", 3_000_000, pause: .milliseconds(1))
        case .streamStalled: try await stream("stall-inside/100000", 100_000)
        case .connecting: _ = try await session.send(NetworkRequest(.get, URL(string: "http://127.0.0.1:\(fullPort)/")))
        case .closedPort: _ = try await session.send(NetworkRequest(.get, URL(string: "http://127.0.0.1:1/")))
        case .lookup: _ = try await session.send(NetworkRequest(.get, URL(string: "http://soak.invalid/")))
        }
    }

    func url(_ path: String) -> URL? { URL(string: base + path) }

    // MARK: Responses in memory

    func answer(_ path: String, _ number: Int, of session: CurlSession? = nil) async throws {
        let response = try await (session ?? self.session).send(NetworkRequest(.get, url(path)))
        try check(response.statusCode == 200 && response.text == "answer \(number)\n", "\(path): \(response.text)")
    }

    private func body(_ path: String, _ count: Int) async throws {
        let response = try await session.send(NetworkRequest(.get, url(path)))
        try check(response.statusCode == 200 && response.body.count == count, "\(path): \(response)")
        try check(Pattern.matches(response.body, at: 0), "\(path): wrong bytes")
    }

    private func download(_ path: String, _ count: Int, to name: String) async throws {
        let file = folder.appendingPathComponent(name)
        defer { try? FileManager.default.removeItem(at: file) }
        guard let url = url(path) else { throw Wrong(description: "\(path) is not a valid URL path") }
        try await Router<URLEndPoint>(session: session).download(URLEndPoint(.get, url), to: file)
        let data = try Data(contentsOf: file)
        try check(data.count == count && Pattern.matches(data, at: 0), "\(path): wrong file")
    }

    // MARK: Responses in pieces

    /// Reads a response as a stream and drops the rest after `limit` bytes.
    func stream(_ path: String, _ count: Int, upTo limit: Int? = nil, pause: Duration? = nil) async throws {
        var request = NetworkRequest(.get, url(path))
        request.options.streamsResponse = true
        let response = try await session.send(request)
        var position = 0
        for try await chunk in response.bytes {
            try check(Pattern.matches(chunk, at: position), "\(path): wrong bytes from \(position) on")
            position += chunk.count
            if let limit, position >= limit { return }
            if let pause { try await Task.sleep(for: pause) }
        }
        try check(position == count, "\(path): received \(position) bytes")
    }
}
