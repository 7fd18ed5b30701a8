extension MockServer {
    /// The limits of a server's requests, and its TLS options.
    public struct Configuration: Sendable {
        /// The largest request line with its header block, in bytes. The server answers more with 431. Default 1 MiB.
        public var headLimit: Int
        /// The largest body, in bytes, held in memory. The server answers more with 413. Default 1 GiB.
        public var bodyLimit: Int
        /// The TLS options of every connection. Nil, the default, means plain HTTP.
        public var tls: TLS?

        /// Creates a configuration.
        public init(headLimit: Int = 1 << 20, bodyLimit: Int = 1 << 30, tls: TLS? = nil) {
            self.headLimit = headLimit
            self.bodyLimit = bodyLimit
            self.tls = tls
        }
    }
}
