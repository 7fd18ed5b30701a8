import Foundation
import Switchboard

/// A separate session and its requests.
struct SoakedSession: Sendable {
    let curl: CurlSession
    let base: String

    init(_ base: String, connections: Int) {
        curl = CurlSession(configuration: .direct(connections: connections))
        self.base = base
    }

    func send(_ path: String) async throws {
        let response = try await curl.send(NetworkRequest(.get, URL(string: base + path)))
        try check(response.text == "answer 1\n", "\(path): \(response.text)")
    }

    func open(_ path: String) async throws -> NetworkResponse {
        var request = NetworkRequest(.get, URL(string: base + path))
        request.options.streamsResponse = true
        return try await curl.send(request)
    }

    /// Reads one chunk and drops the rest.
    func readBeginning(_ path: String) async throws {
        let response = try await open(path)
        for try await _ in response.bytes { return }
    }

    /// Sends a few requests at once. Each may end with a response, the session's end or cancellation.
    func inFlight(endless: Bool = true) -> Task<Void, any Error> {
        let paths = ["small/1", "slow/1/1", "drip/3/1", endless ? "stall" : "slow/3/1", "large/500000"]
        return Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for path in paths {
                    group.addTask {
                        do {
                            _ = try await curl.send(NetworkRequest(.get, URL(string: base + path)))
                        } catch is CancellationError {
                        } catch NetworkError.sessionInvalidated {
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// Checks that a session that was shut down or invalidated rejects requests.
    func refuse() async throws {
        do {
            try await send("small/1")
            throw Wrong(description: "a session sent a request after its shutdown")
        } catch NetworkError.sessionInvalidated {
        }
    }
}
