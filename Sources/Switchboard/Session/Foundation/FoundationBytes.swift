import SwitchboardPlatform
import Foundation

/// The reading end of a streamed response. Releasing it cancels the exchange. URLSession cannot pause a transfer, so
/// unread bytes wait in a temporary file.
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
                .cannotWriteFile,
                reason: "the temporary file that buffers unread data failed: \(PrivateFile.cause(of: error))",
                underlying: error)
        }
    }
}
