import SwitchboardPlatform
import Foundation

/// The reader's end of a streamed response: letting go of it ends the exchange. URLSession cannot be made to wait, so what
/// the reader has no time for waits in a file.
final class FoundationBytes: ResponseBytes.Source {
    private let pipe: BytePipe
    private let exchange: FoundationExchange

    init(_ pipe: BytePipe, _ exchange: FoundationExchange) {
        self.pipe = pipe
        self.exchange = exchange
    }

    deinit {
        pipe.close(cancel: exchange.cancel)
    }

    var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? { exchange.metrics.map { ([:], $0) } }

    func next() async throws -> Data? {
        do {
            return try await withCancellation {
                try await pipe.next()
            } onCancel: { [pipe, exchange] in
                pipe.close(cancel: exchange.cancel)
            }
        } catch let failure as SpillFile.Failure {
            throw failure.networkError
        }
    }
}

extension SpillFile.Failure {
    var networkError: NetworkError {
        switch self {
        case .full(let unread, let limit):
            NetworkError(
                .responseTooLarge, reason: "\(unread) unread bytes are buffered, limits.downloadedFile is \(limit)")
        case .system(let error):
            NetworkError(
                .cannotWriteFile, reason: "the temporary file that buffers unread data failed",
                underlying: error)
        }
    }
}
