import SwitchboardPlatform
import Foundation

/// The body of a call, which stays in flight until the body ends. Canceling the call ends the body.
final class CallStream: ResponseBytes.Source {
    private let bytes: Protected<ResponseBytes?>
    /// The response without its body.
    private let head: NetworkResponse
    private let readerEndsCall = Protected(false)
    private let isComplete = Protected(false)
    private let call: Call
    private let didEnd: @Sendable () -> Void
    /// The identifier of the cancellation handler. The end of the body removes the handler, which retains the body and
    /// the call.
    private let handler: Int

    init(
        _ bytes: ResponseBytes, of response: NetworkResponse, _ call: Call,
        didEnd: @escaping @Sendable () -> Void
    ) {
        var head = response
        head.stream = nil
        self.head = head
        let stored = Protected<ResponseBytes?>(bytes)
        self.bytes = stored
        self.call = call
        self.didEnd = didEnd
        // Releasing the body closes the exchange. A reader in progress receives the cancellation itself.
        handler = call.add {
            _ = stored.swap(nil)
            didEnd()
        }
    }

    deinit {
        call.remove(handler)
        head.endCall(with: isComplete.value ? nil : CancellationError())
        didEnd()
    }

    var request: NetworkRequest? { head.request }
    var isUnchanged: Bool { bytes.value?.isUnchanged ?? false }

    func letReaderEndCall() { readerEndsCall.withLock { $0 = true } }

    func readerDidEnd() { if isComplete.value { head.endCall() } }

    func next() async throws -> Data? {
        guard let bytes = bytes.value else {
            if call.isCancelled { throw CancellationError() }
            return nil
        }
        do {
            let chunk = try await call.run {
                try Call.check()
                return try await bytes.next()
            }
            if chunk == nil {
                isComplete.withLock { $0 = true }
                if !readerEndsCall.value { head.endCall() }
                end()
            }
            return chunk
        } catch {
            let caught = NetworkError.caught(error)
            let error: any Error =
                caught.code == .cancelled ? CancellationError() : request.map(caught.attributed) ?? caught
            head.endCall(with: error)
            end()
            throw error
        }
    }

    private func end() {
        _ = bytes.swap(nil)
        call.remove(handler)
        didEnd()
    }
}
