import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// A client over NIOWebSocket with NIO's async channels, on the shared event loops. It joins the fragments of messages.
struct NIOSocketPeer: SocketPeer {
    typealias Connection = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    private let port: Int

    init(port: Int, runsOnEventLoops: Bool = false) throws {
        if runsOnEventLoops { try Peers.runTasksOnEventLoops() }
        self.port = port
    }

    func echo(_ schedule: EchoSchedule) async throws -> Int {
        let connection = try await connect()
        let message = ByteBuffer(data: EchoSchedule.message)
        return try await connection.executeThenClose { inbound, outbound in
            var frames = inbound.makeAsyncIterator()
            let count = try await schedule.run {
                try await outbound.write(
                    WebSocketFrame(fin: true, opcode: .binary, maskKey: .random(), data: message))
                guard let frame = try await frames.next(), frame.opcode == .binary, frame.unmaskedData == message else {
                    throw UnexpectedAnswer(description: "another message than was sent")
                }
            }
            try await outbound.write(
                WebSocketFrame(
                    fin: true, opcode: .connectionClose, maskKey: .random(), data: ByteBuffer(bytes: [3, 232])))
            return count
        }
    }

    private func connect() async throws -> Connection {
        let upgraded: EventLoopFuture<Connection> = try await ClientBootstrap(
            group: .singletonMultiThreadedEventLoopGroup
        )
        .channelOption(.socketOption(.tcp_nodelay), value: 1)
        .connect(host: "127.0.0.1", port: port) { channel in
            channel.eventLoop.makeCompletedFuture {
                let upgrader = NIOTypedWebSocketClientUpgrader<Connection>(maxFrameSize: 16 << 20) { channel, _ in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOWebSocketFrameAggregator(
                                minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: .max,
                                maxAccumulatedFrameSize: 16 << 20))
                        return try Connection(wrappingChannelSynchronously: channel)
                    }
                }
                let head = HTTPRequestHead(
                    version: .http1_1, method: .GET, uri: "/", headers: ["Host": "127.0.0.1:\(port)"])
                let configuration = NIOTypedHTTPClientUpgradeConfiguration(
                    upgradeRequestHead: head, upgraders: [upgrader]
                ) { channel in
                    channel.eventLoop.makeFailedFuture(UnexpectedAnswer(description: "no upgrade"))
                }
                return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
                    configuration: .init(upgradeConfiguration: configuration))
            }
        }
        return try await upgraded.get()
    }
}
