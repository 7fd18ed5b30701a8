@testable import SwitchboardAuth
import Foundation
import SwitchboardTestSupport
import Testing

@testable import Switchboard

/// Two processes that share a token file. The test starts its own program twice.
@Suite(.timeLimit(.minutes(10)))
struct SharedTokenFileTests {
    /// The folder and the name that the starting test passed to this process. Nil in any other process.
    private static let started = ProcessInfo.processInfo.environment["SWITCHBOARD_TOKEN_PROCESS"]?.split(separator: "|")
    private static let count = 40

    private static func save(_ name: String, _ file: URL) async throws {
        let store = FileTokenStore(file, clock: StillClock())
        for index in 0..<count {
            try await store.save(OAuthToken(accessToken: "\(name)\(index)"), in: "\(name)\(index)")
            // This token is removed again, so that the file also shrinks.
            try await store.remove(in: "\(name)\(index - 1)-gone")
            try await store.save(OAuthToken(accessToken: "gone"), in: "\(name)\(index)-gone")
        }
        try await store.remove(in: "\(name)\(count - 1)-gone")
    }

    private func check(_ names: [String], _ file: URL) async throws {
        let store = FileTokenStore(file, clock: StillClock())
        var lost: [String] = []
        for name in names {
            for index in 0..<Self.count
            where try await store.load(in: "\(name)\(index)")?.accessToken != "\(name)\(index)" {
                lost.append("\(name)\(index)")
            }
        }
        #expect(lost.isEmpty)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path).sorted() == [
                "gate", "tokens.json",
            ])
    }

    @Test(
        "a process that another test starts saves its tokens",
        .enabled(if: started != nil, "it is for the other test"))
    func process() async throws {
        let words = try #require(Self.started).map(String.init)
        let folder = URL(fileURLWithPath: words[0])
        // Both wait here, so that they begin together.
        let gate = open(folder.appendingPathComponent("gate").path, O_RDONLY)
        #expect(flock(gate, LOCK_SH) == 0)
        close(gate)
        try await Self.save(words[1], folder.appendingPathComponent("tokens.json"))
    }

    #if os(Linux)
    @Test("two processes that share a file lose no token")
    func processes() async throws {
        try await withFolder { folder in
            let gate = open(folder.appendingPathComponent("gate").path, O_RDWR | O_CREAT, 0o600)
            try #require(flock(gate, LOCK_EX) == 0)
            let programs = try ["a", "b"].map { name in
                try Program(
                    "/usr/bin/env",
                    [
                        "SWITCHBOARD_TOKEN_PROCESS=\(folder.path)|\(name)", "/proc/\(getpid())/exe",
                        "--testing-library",
                        "swift-testing", "--filter", "SharedTokenFileTests/process\\(\\)",
                    ])
            }
            close(gate)
            for program in programs {
                let output = try program.output.readToEnd() ?? Data()
                #expect(program.waitForEnd() == 0, "\(String(decoding: output, as: UTF8.self))")
            }
            try await check(["a", "b"], folder.appendingPathComponent("tokens.json"))
        }
    }
    #endif

    @Test("two stores that share a file lose no token")
    func stores() async throws {
        try await withFolder { folder in
            try #require(
                FileManager.default.createFile(atPath: folder.appendingPathComponent("gate").path, contents: nil))
            let file = folder.appendingPathComponent("tokens.json")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for name in ["a", "b"] { group.addTask { try await Self.save(name, file) } }
                try await group.waitForAll()
            }
            try await check(["a", "b"], file)
        }
    }
}

/// A clock that sleeps in real time and does not advance, so that a store waits for a lock without a limit.
struct StillClock: Clock {
    typealias Instant = ContinuousClock.Instant

    let now = ContinuousClock.now
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await Task.sleep(for: now.duration(to: deadline))
    }
}
