import Switchboard

/// What TheMovieDB says in the body of an error.
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
    /// Nil when the error has no body, or not one of this shape.
    init?(_ error: NetworkError) {
        guard let decoded = try? error.decode(ServerError.self) else { return nil }
        self = decoded
    }
}
