import Foundation
import Switchboard

/// Retains a stub while a configuration with this cache exists. It caches nothing.
final class StubKeeper: URLCache, @unchecked Sendable {  // the stub is Sendable and never changes
    private let stub: StubSession

    init(_ stub: StubSession) {
        self.stub = stub
        #if canImport(FoundationNetworking)
        super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
        #else
        super.init(memoryCapacity: 0, diskCapacity: 0, directory: nil)
        #endif
    }
}
