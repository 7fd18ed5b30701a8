/// How much a response may hold before it is given up as an error.
public struct Limits: Sendable, Hashable {
    /// The bytes of a body held in memory, after decompression. Default 64 MiB. More ends the exchange with
    /// ``NetworkError/Code/responseTooLarge`` while it is still arriving. A download into a file is not limited by it.
    public var responseBody: Int

    /// Makes a set of limits.
    public init(responseBody: Int = 64 << 20) {
        self.responseBody = responseBody
    }
}
