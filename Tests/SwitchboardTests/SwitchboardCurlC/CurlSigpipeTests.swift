#if os(Linux)
import Foundation
import Switchboard
import SwitchboardCurlC
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// SIGPIPE and libcurl before 7.87. `LD_LIBRARY_PATH` runs these, as all tests, over another libcurl.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct CurlSigpipeTests {
    #if compiler(>=6.2)
    @Test("a broken pipe in libcurl raises no signal and keeps mask and handler")
    func guarded() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            swcurl_set_blocks_sigpipe(true)
            for isBlockedBefore in [false, true] {
                if isBlockedBefore { Sigpipe.block() }
                swcurl_without_sigpipe({ _ in Sigpipe.writeToNobody() }, nil)
                try #require(Sigpipe.isBlocked == isBlockedBefore && !Sigpipe.isPending)
            }
            // A SIGPIPE that was pending before stays pending.
            Sigpipe.writeToNobody()
            try #require(Sigpipe.isPending)
            swcurl_without_sigpipe({ _ in Sigpipe.writeToNobody() }, nil)
            try #require(Sigpipe.isPending)
            try #require(Sigpipe.isDefault)
        }
    }

    @Test("TLS servers that vanish do not end the process")
    func vanishingServers() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            guard MockServer.supportsTLS else { return }
            for round in 0..<6 {
                let server = try MockServer(isSecure: true)
                let session = CurlSession(configuration: server.trustingConfiguration)
                let body = DataBody(Data(count: 4 << 20))
                server.enqueue(.text("kept"), round % 2 == 0 ? .close : .reset, .close, .text("kept"))
                _ = try await session.send(NetworkRequest(.get, server.url))
                for _ in 0..<2 { _ = try? await session.send(NetworkRequest(.put, server.url, body: body)) }
                _ = try? await session.send(NetworkRequest(.get, server.url))
                _ = server.stop()
                // Starts on this thread over a closed connection, then cleans up.
                _ = try? await session.send(NetworkRequest(.get, server.url))
                await session.shutdown()
            }
            try #require(Sigpipe.isDefault)
        }
    }
    #endif

    @Test("SIGPIPE is blocked in libcurl, also in its clean-up")
    func entries() async throws {
        try await MockServer.run(handler: { _ in .text("ok") }) { server in
            let seen = try Sigpipe.observe(server.url)
            #expect(seen.calls.sorted() == ["close", "connect", "head", "write"])
            #expect(seen.unblocked.isEmpty)
            #expect(!Sigpipe.isBlocked)
        }
    }
}

/// The state of SIGPIPE on the running thread.
private enum Sigpipe {
    static var isBlocked: Bool {
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        return sigismember(&mask, SIGPIPE) == 1
    }

    static var isPending: Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return sigismember(&pending, SIGPIPE) == 1
    }

    static var isDefault: Bool {
        var action = sigaction()
        sigaction(SIGPIPE, nil, &action)
        return action.__sigaction_handler.sa_handler == nil  // SIG_DFL
    }

    static func block() {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    static func writeToNobody() {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return }
        close(ends[0])
        _ = write(ends[1], "x", 1)
        close(ends[1])
    }

    final class Observation: @unchecked Sendable {  // used by one thread
        var calls: Set<String> = []
        var unblocked: Set<String> = []

        func record(_ call: String) {
            calls.insert(call)
            if !Sigpipe.isBlocked { unblocked.insert(call) }
        }
    }

    /// Sends one GET with the shim alone on this thread, and returns the observations of its callbacks.
    static func observe(_ url: URL) throws -> Observation {
        #expect(swcurl_load("libcurl.so.4") == nil)
        swcurl_set_blocks_sigpipe(true)
        defer { swcurl_set_blocks_sigpipe(swcurl_version_number() < 0x07_57_00) }
        let observation = Observation()
        let multi = try #require(swcurl_multi_make())
        let poller = try #require(swcurl_poller_make(multi))
        let easy = try #require(swcurl_easy_make())
        let context = Unmanaged.passUnretained(observation).toOpaque()
        swcurl_easy_set_callbacks(
            easy,
            { _, size, count, context in
                context.map { Unmanaged<Observation>.fromOpaque($0).takeUnretainedValue().record("head") }
                return size * count
            },
            { _, size, count, context in
                context.map { Unmanaged<Observation>.fromOpaque($0).takeUnretainedValue().record("write") }
                return size * count
            },
            { _, _, _, _ in 0 }, { _, _, _ in 1 }, { _, _, _, _, _ in 0 }, { _, _, _ in 0 },
            { context, _, _ in
                context.map { Unmanaged<Observation>.fromOpaque($0).takeUnretainedValue().record("connect") }
                return 0
            },
            nil)
        swcurl_poller_adopt(poller, easy)
        let closing: @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32 = { context, socket in
            context.map { Unmanaged<Observation>.fromOpaque($0).takeUnretainedValue().record("close") }
            return Glibc.close(socket)
        }
        swcurl_easy_set_pointer(easy, 20_208, unsafeBitCast(closing, to: UnsafeMutableRawPointer.self))
        swcurl_easy_set_pointer(easy, 10_209, context)
        swcurl_easy_set_context(easy, context)
        swcurl_easy_set_text(easy, 10_002, url.absoluteString)
        swcurl_easy_set_long(easy, 99, 1)
        swcurl_poller_lock(poller)
        swcurl_multi_add(multi, easy)
        swcurl_poller_run_timer(poller)
        var result: Int32 = -1
        for _ in 0..<1_000 {
            swcurl_poller_handle_events(poller, swcurl_poller_wait(poller, 100))
            if swcurl_multi_next_ended(multi, &result) != nil { break }
        }
        #expect(result == 0)
        swcurl_multi_remove(multi, easy)
        swcurl_easy_free(easy)
        swcurl_multi_free(multi)
        swcurl_poller_unlock(poller)
        swcurl_poller_free(poller)
        return observation
    }
}
#endif
