import SwitchboardMocks
import Testing
import XCTest

extension StubAnswering {
    /// Fails the test, at the line of the call, once per unmet expectation: a request that nothing answered, a stub
    /// that answered too few requests, a response left in the queue, an answer cut short.
    ///
    /// Records an issue in Swift Testing, and a failure in XCTest.
    public func verify(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
    ) {
        let site = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        for fault in faults { site.fail("\(Self.self): \(fault)") }
    }
}

extension StubSession {
    /// Fails the test, at the line of the call, unless these stubs answered in exactly this order, each as often as it
    /// is listed. Other stubs are ignored.
    public func verify(
        order first: Stub, _ others: Stub..., fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column
    ) {
        guard let fault = fault(inOrder: [first] + others) else { return }
        CallSite(fileID: fileID, filePath: filePath, line: line, column: column).fail("StubSession: \(fault)")
    }
}

/// The location of a helper's call, where its failures are reported.
struct CallSite: Sendable {
    let fileID: StaticString
    let filePath: StaticString
    let line: UInt
    let column: UInt

    func fail(_ message: String) {
        // A detached task of Swift Testing has no current test either.
        if Test.current == nil, !Self.issuesReachXCTest { XCTFail(message, file: filePath, line: line) }
        let location = SourceLocation(
            fileID: "\(fileID)", filePath: "\(filePath)", line: Int(line), column: Int(column))
        Issue.record(Comment(rawValue: message), sourceLocation: location)
    }
}
