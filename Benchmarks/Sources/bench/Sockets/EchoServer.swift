import Movies
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// Sends each frame back, on one thread. Its CPU does not count. `--port N`
struct EchoServer {
    private let port: Int

    init(_ arguments: Arguments) throws {
        port = try arguments.number("port", default: 0)
    }

    func run() async throws -> Never {
        let upgrader = NIOWebSocketServerUpgrader(
            maxFrameSize: 16 << 20,
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
            upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Echo()) }
            })
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup(numberOfThreads: 1))
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(
                        withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        try await server.closeFuture.get()
        fatalError("the server ended")
    }
}

private final class Echo: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        let opcode: WebSocketOpcode = frame.opcode == .ping ? .pong : frame.opcode
        let answer = WebSocketFrame(fin: frame.fin, opcode: opcode, data: frame.unmaskedData)
        let isLast = frame.opcode == .connectionClose
        let sent = context.write(wrapOutboundOut(answer))
        if isLast {
            sent.assumeIsolated().whenComplete { [channel = context.channel] _ in channel.close(promise: nil) }
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) { context.flush() }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
