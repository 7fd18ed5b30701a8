import SwitchboardPlatform
import Foundation

/// The body of a router's call while it is read: the call is under way until its end, and is cancelled with it.
final class CallStream: ResponseBytes.Source {
    private let bytes: Protected<ResponseBytes?>
    let request: NetworkRequest?
    private let cancellation: CallCancellation
    private let didEnd: @Sendable () -> Void
    /// What the cancellation runs. It holds the body, and `didEnd`, which holds the call: taken back at the end, or they
    /// would stay.
    private let handler: Int

    init(
        _ bytes: ResponseBytes, of request: NetworkRequest, _ cancellation: CallCancellation,
        didEnd: @escaping @Sendable () -> Void
    ) {
        let held = Protected<ResponseBytes?>(bytes)
        self.bytes = held
        self.request = request
        self.cancellation = cancellation
        self.didEnd = didEnd
        // Let go of, it closes the exchange; one that is being read hears of it by itself.
        handler = cancellation.add {
            _ = held.swap(nil)
            didEnd()
        }
    }

    deinit {
        cancellation.remove(handler)
        didEnd()
    }

    func next() async throws -> Data? {
        guard let bytes = bytes.value else {
            if cancellation.isCancelled { throw CancellationError() }
            return nil
        }
        do {
            let chunk = try await cancellation.run {
                try CallCancellation.check()
                return try await bytes.next()
            }
            if chunk == nil { end() }
            return chunk
        } catch {
            end()
            let error = NetworkError.caught(error)
            guard error.code != .cancelled else { throw CancellationError() }
            throw request.map(error.attributed) ?? error
        }
    }

    private func end() {
        _ = bytes.swap(nil)
        cancellation.remove(handler)
        didEnd()
    }
}
