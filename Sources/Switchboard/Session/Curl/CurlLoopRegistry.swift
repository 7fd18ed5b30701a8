#if os(Linux)
import SwitchboardPlatform
import Foundation

/// The loops whose threads run, so that they are at rest before the process tears down the libraries under them.
enum CurlLoopRegistry {
    private struct Entry: Sendable {
        weak var loop: CurlLoop?
    }

    private static let entries = Protected<[ObjectIdentifier: Entry]>([:])

    /// Registered after libcurl and its TLS library were initialized, so that it runs before they clean up.
    private static let stopAtExit: Void = {
        atexit {
            let loops = CurlLoopRegistry.entries.withLock { $0.values.compactMap(\.loop) }
            for loop in loops { loop.close(cancelling: true) }
            for loop in loops { _ = loop.waitForEnd(.seconds(1)) }
        }
    }()

    static func add(_ loop: CurlLoop) {
        _ = stopAtExit
        entries.withLock { $0[ObjectIdentifier(loop)] = Entry(loop: loop) }
    }

    static func remove(_ loop: CurlLoop) {
        entries.withLock { $0[ObjectIdentifier(loop)] = nil }
    }
}
#endif
