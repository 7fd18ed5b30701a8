// Apple's Network framework.
import Dispatch

// https://developer.apple.com/documentation/network/nwpath
@available(macOS 10.14, iOS 12.0, tvOS 12.0, watchOS 5.0, *)
public struct NWPath: Sendable, Equatable {
    // https://developer.apple.com/documentation/network/nwpath/status-swift.enum
    public enum Status: Sendable {
        case satisfied
        case unsatisfied
        case requiresConnection
    }

    public let status: Status
}

// https://developer.apple.com/documentation/network/nwpathmonitor
// On watchOS it exists, and reports to most apps that there is no network:
// https://developer.apple.com/documentation/technotes/tn3135-low-level-networking-on-watchos
@available(macOS 10.14, iOS 12.0, tvOS 12.0, *)
@available(watchOS, unavailable)
public final class NWPathMonitor: Sendable {
    public init() {}

    // https://developer.apple.com/documentation/network/nwpathmonitor/pathupdatehandler
    public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { fatalError() }
        set {}
    }

    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}
