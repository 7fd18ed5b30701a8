import Switchboard

extension SessionConfiguration {
    /// Returns a configuration without a proxy, whatever the environment specifies.
    static func direct(connections: Int) -> SessionConfiguration {
        var configuration = SessionConfiguration(maximumConnectionsPerHost: connections)
        configuration.proxy = .none
        return configuration
    }
}
