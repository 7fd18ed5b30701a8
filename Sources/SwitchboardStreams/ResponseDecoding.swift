import Switchboard
import SwitchboardJSON
import SwitchboardPlatform

/// The decoder of a streamed response, and the environment in which it runs. Both are known when the response arrives.
struct ResponseDecoding: Sendable {
    private let fixedDecoder: (any ResponseDecoder)?
    private let resolved = Protected<(decoder: any ResponseDecoder, environment: CallEnvironment?)?>(nil)

    /// Creates a decoding. Nil selects the decoder of the request's options.
    init(_ decoder: (any ResponseDecoder)? = nil) { fixedDecoder = decoder }

    /// Decodes with the decoder, in the environment of the response.
    func run<Output>(_ decode: (any ResponseDecoder) throws -> Output) rethrows -> Output {
        let resolved = resolved.value
        return try (resolved?.environment).run {
            try decode(fixedDecoder ?? resolved?.decoder ?? FastJSONDecoder.ofResponses)
        }
    }

    /// Sets the decoder and the environment to those of a request.
    func resolve(_ request: NetworkRequest?) {
        resolved.withLock { $0 = request.map { ($0.options.decoder, $0.callEnvironment) } }
    }
}

/// A body and the decoding of its values, which the first read resolves.
struct DecodedBytes {
    let bytes: ResponseBytes
    let decoding: ResponseDecoding

    /// The body of a response. Nil selects the decoder of the request's options.
    init(_ bytes: ResponseBytes, _ decoder: (any ResponseDecoder)?) {
        let decoding = ResponseDecoding(decoder)
        self.decoding = decoding
        self.bytes = ResponseBytes(
            opening: {
                decoding.resolve(await bytes.request ?? bytes.origin)
                return bytes
            }, origin: bytes.origin)
    }

    /// The body of the response to a call. The first read sends the request.
    init(of call: PreparedCall) {
        let decoding = ResponseDecoding()
        self.decoding = decoding
        bytes = ResponseBytes(opening: {
            let response = try await call.stream()
            decoding.resolve(response.request)
            return response.bytes
        })
    }
}
