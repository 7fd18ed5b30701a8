import SwitchboardPlatform
import Dispatch
import Foundation
import Switchboard

/// The location of an upload's bytes.
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
    /// Reads all bytes without blocking the caller's thread.
    func read() async throws -> Data {
        switch self {
        case .none: return Data()
        case .data(let data): return data
        case .file(let url): return try FileBody(url).encode()
        case .stream(let stream): return try await Self.read(stream)
        }
    }

    /// Reads a stream on a separate thread, because the stream may wait for its writer.
    private static func read(_ stream: InputStream) async throws -> Data {
        let isCancelled = Protected(false)
        nonisolated(unsafe) let stream = stream  // no other code reads it
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
