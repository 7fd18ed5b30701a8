import Foundation
import Switchboard

extension Stage {
    func upload(_ count: Int, _ path: String, length: Int64?) async throws {
        let body = StreamBody(length: length) { Self.chunks(count) }
        try await send(body, to: path, count)
    }

    func uploadFromMemory(_ count: Int) async throws {
        var data = Data()
        while data.count < count { data.append(Pattern.data(at: data.count, count: count - data.count)) }
        try await send(DataBody(data, contentType: "application/octet-stream"), to: "take", count)
    }

    /// Uploads a body whose source stalls forever.
    func uploadWaiting() async throws {
        let body = StreamBody {
            HTTPBodyStream {
                try await Task.sleep(for: .seconds(3600))
                return nil
            }
        }
        try await send(body, to: "take", 0)
    }

    /// Uploads to a server that responds before it reads the body.
    func refused() async throws {
        let body = StreamBody(length: 400_000) { Self.chunks(400_000) }
        let response = try await session.send(NetworkRequest(.post, url("refuse"), body: body))
        try check(response.statusCode == 413, "refuse: \(response)")
    }

    private func send(_ body: any HTTPBody, to path: String, _ count: Int) async throws {
        let response = try await session.send(NetworkRequest(.post, url(path), body: body))
        try check(response.text == "\(count) \(Pattern.sum(count))", "\(path): \(response.text)")
    }

    static func chunks(_ count: Int) -> HTTPBodyStream {
        let position = Locked(0)
        return HTTPBodyStream {
            await Task.yield()
            return position.withLock { position in
                guard position < count else { return nil }
                let chunk = Pattern.data(at: position, count: min(60_000, count - position))
                position += chunk.count
                return chunk
            }
        }
    }
}
