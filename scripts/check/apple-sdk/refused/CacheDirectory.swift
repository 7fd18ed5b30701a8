// Newer SDKs declare this initializer of URLCache in a Swift extension. It traps for a subclass, and iOS 18 lacks its symbol.
import Foundation

final class EmptyCache: URLCache, @unchecked Sendable {
    let name: String

    init(_ name: String) {
        self.name = name
        super.init(memoryCapacity: 0, diskCapacity: 0, directory: nil)  // expected-error {{incorrect argument label in call}}
    }
}
