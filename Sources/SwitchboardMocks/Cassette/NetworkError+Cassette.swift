import Switchboard

extension NetworkError.Code {
    /// A cassette cannot be used, or was not played as it was recorded. Its file is missing or damaged, no request used
    /// an entry, or no cassette is current for ``Cassette/current``. The reason says which.
    public static let cassetteFault = NetworkError.Code(rawValue: "cassetteFault")
}
