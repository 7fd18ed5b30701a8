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

    /// Takes the decoder and the environment of the latest response.
    func take(_ response: NetworkResponse) {
        found.withLock { $0 = (response.handling.decoder, response.environment) }
    }
}

extension PreparedCall {
    /// Returns the body of the response, which is requested when the first chunk is read.
    func bytes(for decoding: ResponseDecoding) -> ResponseBytes {
        ResponseBytes(opening: {
            let response = try await stream()
            decoding.take(response)
            return response.bytes
        })
    }
}
