import AsyncHTTPClient
import NIOCore
import NIOHTTPCompression
import Switchboard

extension HTTPClient.Configuration {
    /// Switchboard follows redirects itself, and its limits hold for
    /// decompressed bytes.
    static var forSwitchboard: Self {
        var configuration = Self(redirectConfiguration: .disallow)
        configuration.decompression = .enabled(limit: .ratio(250))
        configuration.timeout.connect = .seconds(10)
        configuration.timeout.read = .seconds(60)
        return configuration
    }
}
