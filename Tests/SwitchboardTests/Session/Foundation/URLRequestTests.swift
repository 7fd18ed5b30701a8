import Foundation
@testable import Switchboard
import SwitchboardPlatform
import SwitchboardTestSupport
import Testing

/// The requests and the configuration that URLSession gets.
struct URLRequestTests {
    private let url = URL(text: "http://a.example/")
    private let body = DataBody(Data("a=1".utf8))

    private func convert(_ request: NetworkRequest, _ quirks: URLSessionQuirks = .apple) async throws -> URLRequest {
        try URLRequest(
            request, payload: try await RequestPayload(request.body, within: request.timeouts), quirks: quirks)
    }

    #if os(Linux) && compiler(>=6.2)
    @Test("a streamed body that no temporary file can hold names that file")
    func fullDisk() async {
        await #expect(processExitsWith: .success) {
            try await withFolder { folder in
                let file = folder.appendingPathComponent("body")
                try Data(count: 4_096).write(to: file)
                let error = try await withLimit(1_000, of: RLIMIT_FSIZE) {
                    await #expect(throws: NetworkError.self) {
                        _ = try await RequestPayload(FileBody(file), within: .standard)
                    }
                }
                #expect(error?.code == .cannotWriteFile)
                #expect(error?.reason == "the temporary file for the streamed body failed: File too large")
            }
        }
    }
    #endif

    #if compiler(>=6.2)
    @Test("the body of a killed process is removed, and that of a live one stays")
    func leftFile() async {
        await #expect(processExitsWith: .success) {
            let folder = FileManager.default.temporaryDirectory
            let left = folder.appendingPathComponent("switchboard-\(UUID().uuidString).body")
            let used = folder.appendingPathComponent("switchboard-\(UUID().uuidString).body")
            try PrivateFile.create(left, Data(), isSynchronized: false)
            let lock = try #require(try FileLock.open(used.path, mode: 0o600))
            defer {
                unlink(used.path)
                close(lock)
            }
            for file in [left, used] {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -60)], ofItemAtPath: file.path)
            }
            let payload = try await RequestPayload(StreamBody { HTTPBodyStream { nil } }, within: .standard)
            #expect(payload?.length == 0)
            #expect(!FileManager.default.fileExists(atPath: left.path))
            #expect(FileManager.default.fileExists(atPath: used.path))
        }
    }
    #endif

    @Test("a body without a Content-Type is no form on Apple's systems")
    func unnamedBody() async throws {
        let bare = try await convert(NetworkRequest(.post, url, body: body))
        #expect(bare.value(forHTTPHeaderField: "Content-Type") == "application/octet-stream")
        let named = try await convert(NetworkRequest(.post, url, headers: ["content-type": "text/csv"], body: body))
        #expect(named.value(forHTTPHeaderField: "Content-Type") == "text/csv")
        let empty = try await convert(NetworkRequest(.post, url))
        #expect(empty.value(forHTTPHeaderField: "Content-Type") == nil)
    }

    @Test("a request has no timeout of URLSession", arguments: [Duration.seconds(1), .seconds(3_600)])
    func timeout(idle: Duration) async throws {
        var request = NetworkRequest(.get, url)
        request.timeouts.idle = idle
        for quirks in [URLSessionQuirks.apple, .openSource] {
            #expect(try await convert(request, quirks).timeoutInterval == 604_800)
        }
        // The request of a WebSocket. URLSession would end an idle one after a minute.
        #expect(try URLRequest(request).timeoutInterval == 604_800)
    }

    @Test("the cache policy adds no field, and there is no cache")
    func cachePolicy() async throws {
        let configuration = SessionConfiguration().urlSessionConfiguration
        #expect(configuration.requestCachePolicy == .useProtocolCachePolicy)
        #expect(configuration.urlCache == nil && configuration.httpCookieStorage == nil)
        #expect(try await convert(NetworkRequest(.get, url)).cachePolicy == .useProtocolCachePolicy)
    }
}
