import SwitchboardPlatform
import Dispatch
import Foundation
import Switchboard

/// Where the bytes of an upload are.
enum UploadedBody {
    case none
    case data(Data)
    case file(URL)
    case stream(InputStream)
}

extension [String: String] {
    var sortedFields: [HTTPHeader] {
        sorted { $0.key < $1.key }.map { HTTPHeader(name: $0.key, value: $0.value) }
    }
}

extension UploadedBody {
    /// All of it, read where it holds nobody up.
    func read() async throws -> Data {
        switch self {
        case .none: return Data()
        case .data(let data): return data
        case .file(let url): return try FileBody(url).encode()
        case .stream(let stream): return try await Self.read(stream)
        }
    }

    /// A stream may wait for who fills it, so a thread of its own reads it.
    private static func read(_ stream: InputStream) async throws -> Data {
        let isCancelled = Protected(false)
        nonisolated(unsafe) let stream = stream  // nobody else reads it
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(with: Result { try stream.readAll { isCancelled.withLock { $0 } } })
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }
}
