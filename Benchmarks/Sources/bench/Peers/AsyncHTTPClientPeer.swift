import AsyncHTTPClient
import Foundation
import Movies
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOPosix
import NIOSSL

/// The async interface of async-http-client on the shared event loops. Foundation decodes JSON with NIO's
/// buffers.
struct AsyncHTTPClientPeer: Peer {
    private let client: HTTPClient
    private let url: String
    private let posted: Data?

    /// Creates the client. `runsOnEventLoops` moves all tasks of the process to the event loops.
    init(_ settings: PeerSettings, runsOnEventLoops: Bool = false) throws {
        if runsOnEventLoops { try Peers.runTasksOnEventLoops() }
        var configuration = HTTPClient.Configuration()
        configuration.httpVersion = settings.isHTTP1 ? .http1Only : .automatic
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = settings.connections
        if let authority = settings.authority {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(authority.path))
            configuration.tlsConfiguration = tls
        }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        url = Loopback.page
        posted = settings.posted
    }

    func bytes() async throws -> Int { try await buffer().readableBytes }
    func data() async throws -> Data { Data(buffer: try await buffer()) }
    func page() async throws -> MoviePage { try JSONDecoder().decode(MoviePage.self, from: try await buffer()) }

    private func buffer() async throws -> ByteBuffer { try await body(HTTPClientRequest(url: url)) }

    private func body(_ request: HTTPClientRequest) async throws -> ByteBuffer {
        var request = request
        request.headers.add(name: "Accept", value: "application/json")
        if let posted {
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(posted)
        }
        let response = try await client.execute(request, timeout: .seconds(60))
        guard response.status == .ok else { throw UnexpectedAnswer.status(Int(response.status.code)) }
        return try await response.body.collect(upTo: 64 << 20)
    }
}
