import SwitchboardMocks

extension Verifiable {
    /// Fails the test, at the line of the call, once for each thing that did not go as it was told: a request that
    /// nothing answered, a stub that was asked too seldom, a response left in the queue, an answer cut short.
    ///
    /// In Swift Testing that is an issue, in XCTest a failure.
    public func verify(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
    ) {
        let site = CallSite(fileID, filePath, line, column)
        for fault in faults { site.fail("\(Self.self): \(fault)") }
    }
}

extension StubSession {
    /// Fails the test, at the line of the call, unless these stubs, among themselves, were asked in exactly this order,
    /// each as often as it is listed.
    public func verify(
        order first: Stub, _ others: Stub..., fileID: StaticString = #fileID, filePath: StaticString = #filePath,
        line: UInt = #line,
        column: UInt = #column
    ) {
        guard let fault = fault(inOrder: [first] + others) else { return }
        CallSite(fileID, filePath, line, column).fail("StubSession: \(fault)")
    }
}
