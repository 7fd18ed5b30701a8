import SwitchboardPlatform
import Foundation

/// The body of a router's call while it is read. The call is in flight until the end of the body, and its cancellation
/// ends the body.
final class CallStream: ResponseBytes.Source {
    private let bytes: Protected<ResponseBytes?>
    let request: NetworkRequest?
    private let cancellation: CallCancellation
    private let didEnd: @Sendable () -> Void
    /// The identifier of the cancellation handler. The handler retains the body and `didEnd`, which retains the call:
    /// it is removed at the end to release both.
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
        // Releasing the body closes the exchange. A body that is being read receives the cancellation itself.
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
