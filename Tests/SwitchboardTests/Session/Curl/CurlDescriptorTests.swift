#if os(Linux) && compiler(>=6.2)
import Foundation
import SwitchboardCurlC
import SwitchboardMocks
import SwitchboardTesting
import Testing

import SwitchboardTestSupport
@testable import Switchboard

/// Sessions in a process without a free descriptor. Each test has a separate process, to which the limit applies.
@Suite(.timeLimit(.minutes(10))) struct CurlDescriptorTests {
    /// Returns the file of libcurl that this process has loaded.
    private static func libcurl() throws -> URL {
        let maps = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/maps"))
        var bytes = Data()
        while let piece = try maps.read(upToCount: 1 << 16), !piece.isEmpty { bytes += piece }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        let path = try #require(lines.first { $0.contains("/libcurl.so.4") }?.drop { $0 != "/" })
        return URL(fileURLWithPath: String(path))
    }

    @Test("a session made without a free descriptor serves a later request")
    func start() async {
        await #expect(processExitsWith: .success) {
            try await MockServer.run(handler: { _ in .text("ok") }) { server in
                let request = NetworkRequest(.get, server.url)
                let session = try await withoutDescriptors {
                    let session = CurlSession(configuration: .direct)
                    for _ in 0..<2 {
                        let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
                        #expect(error?.code == .unknown)
                        #expect(error?.reason == "no descriptors to wait with: Too many open files")
                    }
                    return session
                }
                #expect(try await session.send(request).text == "ok")
            }
        }
    }

    /// Returns the size of the memory that this process may write, in KiB.
    private static func dataSize() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmData:") })
        return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
    }

    @Test("requests that find no free descriptor leave no memory behind")
    func memory() async {
        await #expect(processExitsWith: .success) {
            let request = NetworkRequest(.get, URL(text: "http://127.0.0.1/"))
            let session = try await withoutDescriptors {
                let session = CurlSession(configuration: .direct)
                _ = try? await session.send(request)
                return session
            }
            let before = try Self.dataSize()
            try await withoutDescriptors {
                for _ in 0..<4_000 {
                    await #expect(throws: NetworkError.self) { try await session.send(request) }
                }
            }
            // A buffer of 64 KiB for each request would be 250 MiB.
            let growth = try Self.dataSize() - before
            #expect(growth < 100 << 10)
        }
    }

    @Test("a first request without a free descriptor fails, the next succeeds")
    func firstRequest() async {
        await #expect(processExitsWith: .success) {
            try await MockServer.run(handler: { _ in .text("ok") }) { server in
                let request = NetworkRequest(.get, server.url)
                let session = CurlSession(configuration: .direct)
                try await withoutDescriptors {
                    let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
                    #expect(error?.code == .cannotConnect)
                    #expect(error?.reason == "the process has no free descriptor for a connection")
                    let unknown = await #expect(throws: NetworkError.self) {
                        try await session.send(NetworkRequest(.get, URL(text: "http://name.invalid/")))
                    }
                    #expect(unknown?.reason == error?.reason, "\(String(describing: unknown))")
                }
                #expect(try await session.send(request).text == "ok")
            }
        }
    }

    @Test("connections leave descriptors to the rest of the process")
    func reserve() async {
        await #expect(processExitsWith: .success) {
            let (listener, port) = try Socket.listening()
            // The process has inherited some numbers.
            let free = (0..<40).map { _ in open("/dev/null", O_RDONLY) }
            for descriptor in free { close(descriptor) }
            let last = try #require(free.max())
            var configuration = SessionConfiguration.direct
            configuration.maximumConnectionsPerHost = 100
            let session = CurlSession(configuration: configuration)
            let request = NetworkRequest(.get, URL(string: "http://127.0.0.1:\(port)/"))
            let (failure, files) = try await withLimit(rlim_t(last + 1), of: RLIMIT_NOFILE) {
                await withTaskGroup(of: NetworkError?.self) { group in
                    for _ in 0..<100 {
                        group.addTask {
                            do { _ = try await session.send(request) } catch { return error as? NetworkError }
                            return nil
                        }
                    }
                    let failure = await group.next() ?? nil
                    let files = (0..<4).map { _ in open("/dev/null", O_RDONLY) }
                    group.cancelAll()
                    return (failure, files)
                }
            }
            #expect(failure?.code == .cannotConnect)
            #expect(failure?.reason == "the process has no free descriptor for a connection")
            #expect(files.allSatisfy { $0 >= 0 })
            listener.close()
        }
    }

    @Test("libcurl is loaded later if no descriptor is free at first")
    func library() async {
        await #expect(processExitsWith: .success) {
            // The tests are linked to libcurl, so only a copy needs a descriptor.
            let copy = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: copy) }
            try FileManager.default.copyItem(at: Self.libcurl(), to: copy)
            let (first, second) = (StubSession(), StubSession())
            try await withoutDescriptors {
                let failure = swcurl_load(copy.path).map { String(cString: $0) }
                #expect(failure?.contains("Too many open files") == true)
                #expect(DefaultSession.choose(failure, { first }, or: { second }) as? StubSession === first)
            }
            #expect(swcurl_load(copy.path).map { String(cString: $0) } == nil)
        }
    }
}
#endif
