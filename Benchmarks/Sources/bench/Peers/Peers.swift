import Movies
import NIOCore
import NIOPosix

enum Peers {
    /// Creates a peer by its name in the tables, without `+decode`, which ``Work`` covers.
    static func make(_ name: String, _ settings: PeerSettings) throws -> any Peer {
        switch name {
        case "urlsession": try URLSessionPeer(settings)
        case "foundation": SessionPeer(try Sessions.make("foundation", settings), settings)
        case "curl": SessionPeer(try Sessions.make("curl", settings), settings)
        case "curl+executor": SessionPeer(try Sessions.make("curl", settings), settings, runsOnSession: true)
        case "router": RouterPeer(try Sessions.make("curl", settings), settings)
        case "router+executor": RouterPeer(try Sessions.make("curl", settings), settings, runsOnSession: true)
        case "ahc": try AsyncHTTPClientPeer(settings)
        case "ahc+executor": try AsyncHTTPClientPeer(settings, runsOnEventLoops: true)
        default: throw UsageError(text: "unknown peer: \(name)")
        }
    }

    /// Moves all tasks of the process to the event loops.
    static func runTasksOnEventLoops() throws {
        guard NIOSingletons.unsafeTryInstallSingletonPosixEventLoopGroupAsConcurrencyGlobalExecutor() else {
            throw UsageError(text: "cannot install the event loops as the executor of all tasks")
        }
    }
}
