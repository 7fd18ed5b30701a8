extension MockServer {
    /// What a server takes from a client before it refuses, and whether it speaks TLS.
    public struct Configuration: Sendable {
        /// The bytes of a request line and its header block. More is answered with 431. Default 1 MiB.
        public var headLimit: Int
        /// The bytes of a body, held in memory. More is answered with 413. Default 1 GiB.
        public var bodyLimit: Int
        /// TLS for every connection. Nil, the default, for plain HTTP.
        public var tls: TLS?

        /// Makes a configuration.
        public init(headLimit: Int = 1 << 20, bodyLimit: Int = 1 << 30, tls: TLS? = nil) {
            self.headLimit = headLimit
            self.bodyLimit = bodyLimit
            self.tls = tls
        }
    }
}
