import Foundation

extension CallSite {
    /// Whether an issue of Swift Testing fails a test of XCTest too: from Swift 6.4, unless its interoperability with XCTest is
    /// switched off ([ST-0021](https://github.com/swiftlang/swift-evolution/tree/main/proposals/testing)).
    static var issuesReachXCTest: Bool {
        #if compiler(>=6.4)
        ProcessInfo.processInfo.environment["SWIFT_TESTING_XCTEST_INTEROP_MODE"] != "none"
        #else
        false
        #endif
    }
}
