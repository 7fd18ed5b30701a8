import AsyncHTTPClient
import Foundation
import Movies
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// async-http-client by its async interface, on the shared event loops.
struct AsyncHTTPClientPeer: Peer {
    private let client: HTTPClient
    private let url: String

    /// With `runsOnEventLoops` all tasks of the process run on the event loops.
    init(_ settings: PeerSettings, runsOnEventLoops: Bool = false) throws {
        if runsOnEventLoops, !NIOSingletons.unsafeTryInstallSingletonPosixEventLoopGroupAsConcurrencyGlobalExecutor() {
            throw UsageError(text: "tasks cannot run on the event loops")
        }
        var configuration = HTTPClient.Configuration()
        configuration.httpVersion = settings.isHTTP1 ? .http1Only : .automatic
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = settings.connections
        if let authority = settings.authority {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(authority.path))
            configuration.tlsConfiguration = tls
        }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        url = settings.url.absoluteString
    }

    func get() async throws -> Int { try await exchange().readableBytes }
    func page() async throws -> Data { Data(try await exchange().readableBytesView) }

    private func exchange() async throws -> ByteBuffer {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "Accept", value: "application/json")
        let response = try await client.execute(request, timeout: .seconds(60))
        guard response.status == .ok else { throw UnexpectedAnswer.status(Int(response.status.code)) }
        return try await response.body.collect(upTo: 64 << 20)
    }
}
