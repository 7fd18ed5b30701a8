import Switchboard

extension SessionConfiguration {
    /// Straight to the server, whatever the environment says.
    static func direct(connections: Int) -> SessionConfiguration {
        var configuration = SessionConfiguration(maximumConnectionsPerHost: connections)
        configuration.proxy = .none
        return configuration
    }
}
