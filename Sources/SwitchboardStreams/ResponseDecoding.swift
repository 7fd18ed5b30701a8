import Switchboard
import SwitchboardJSON
import SwitchboardPlatform

/// The decoder of a streamed response and the environment in which it runs, which are known when the response arrives.
struct ResponseDecoding: Sendable {
    private let given: (any ResponseDecoder)?
    private let found = Protected<(decoder: any ResponseDecoder, environment: CallEnvironment?)?>(nil)

    /// Creates a decoding. Nil selects the decoder of the response handling.
    init(_ decoder: (any ResponseDecoder)?) { given = decoder }

    /// Decodes with the decoder, in the environment of the response.
    func run<Output>(_ decode: (any ResponseDecoder) throws -> Output) rethrows -> Output {
        let found = found.value
        return try (found?.environment).run { try decode(given ?? found?.decoder ?? FastJSONDecoder.ofResponses) }
    }

    /// Takes the decoder and the environment of the latest request. Nil for none.
    func take(_ request: NetworkRequest?) {
        found.withLock { $0 = request.map { ($0.options.responseHandling.decoder, $0.callEnvironment) } }
    }
}

extension ResponseBytes {
    /// Returns the same bytes, whose request is that of a decoding from the first chunk on.
    func decoded(by decoding: ResponseDecoding) -> ResponseBytes {
        ResponseBytes(opening: {
            decoding.take(await request)
            return self
        })
    }
}

extension PreparedCall {
    /// Returns the body of the response, which is requested when the first chunk is read.
    func bytes(for decoding: ResponseDecoding) -> ResponseBytes {
        ResponseBytes(opening: {
            let response = try await stream()
            decoding.take(response.request)
            return response.bytes
        })
    }
}
