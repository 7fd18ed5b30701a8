import Switchboard

extension NetworkError.Code {
    /// A cassette cannot be used, or was not played as it was recorded: its file is missing or damaged, an entry was
    /// never asked for, there is none where ``Cassette/current`` asks for one. The reason says which.
    public static let cassetteFault = NetworkError.Code(rawValue: "cassetteFault")
}
