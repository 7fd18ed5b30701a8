import Switchboard

/// The body of TheMovieDB's errors.
struct ServerError: Decodable, Sendable {
    /// The code of "Invalid page".
    static let invalidPage = 22

    let code: Int
    let message: String

    enum CodingKeys: String, CodingKey {
        case code = "status_code"
        case message = "status_message"
    }
}

extension ServerError {
    /// Decodes an error's body. Nil if the error has no body or the body has another shape.
    init?(_ error: NetworkError) {
        guard let decoded = try? error.decode(ServerError.self) else { return nil }
        self = decoded
    }
}
