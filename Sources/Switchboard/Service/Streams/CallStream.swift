import SwitchboardPlatform
import Foundation

/// The body of a router's call while it is read. The call is in flight until the end of the body, and its cancellation
/// ends the body.
final class CallStream: ResponseBytes.Source {
    private let bytes: Protected<ResponseBytes?>
    /// The response without its body.
    private let head: NetworkResponse
    private let isEndedByReader = Protected(false)
    private let isComplete = Protected(false)
    private let cancellation: CallCancellation
    private let didEnd: @Sendable () -> Void
    /// The identifier of the cancellation handler. The handler retains the body and `didEnd`, which retains the call:
    /// it is removed at the end to release both.
    private let handler: Int

    init(
        _ bytes: ResponseBytes, of response: NetworkResponse, _ cancellation: CallCancellation,
        didEnd: @escaping @Sendable () -> Void
    ) {
        var head = response
        head.stream = nil
        self.head = head
        let held = Protected<ResponseBytes?>(bytes)
        self.bytes = held
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
        head.endCall(with: isComplete.value ? nil : CancellationError())
        didEnd()
    }

    var request: NetworkRequest? { head.request }

    func endsWithReader() { isEndedByReader.withLock { $0 = true } }

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
            if chunk == nil {
                isComplete.withLock { $0 = true }
                if !isEndedByReader.value { head.endCall() }
                end()
            }
            return chunk
        } catch {
            let found = NetworkError.caught(error)
            let error: any Error =
                found.code == .cancelled ? CancellationError() : request.map(found.attributed) ?? found
            head.endCall(with: error)
            end()
            throw error
        }
    }

    private func end() {
        _ = bytes.swap(nil)
        cancellation.remove(handler)
        didEnd()
    }
}
