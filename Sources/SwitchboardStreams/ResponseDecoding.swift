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

extension ResponseBytes {
    /// Returns the same bytes. The first read resolves `decoding` with their request.
    func decoded(by decoding: ResponseDecoding) -> ResponseBytes {
        ResponseBytes(
            opening: {
                decoding.resolve(await request ?? origin)
                return self
            }, origin: origin)
    }
}

extension PreparedCall {
    /// Returns the body of the response. The first read sends the request and resolves `decoding`.
    func bytes(for decoding: ResponseDecoding) -> ResponseBytes {
        ResponseBytes(opening: {
            let response = try await stream()
            decoding.resolve(response.request)
            return response.bytes
        })
    }
}
