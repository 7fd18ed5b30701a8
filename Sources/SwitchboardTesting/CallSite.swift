import Testing
import XCTest

/// The location of a helper's call, where its failures are reported.
struct CallSite: Sendable {
    let fileID: StaticString
    let filePath: StaticString
    let line: UInt
    let column: UInt

    init(_ fileID: StaticString, _ filePath: StaticString, _ line: UInt, _ column: UInt) {
        self.fileID = fileID
        self.filePath = filePath
        self.line = line
        self.column = column
    }

    /// Fails the running test, in Swift Testing or in XCTest.
    func fail(_ message: String) {
        guard Test.current != nil else { return XCTFail(message, file: filePath, line: line) }
        let location = SourceLocation(
            fileID: "\(fileID)", filePath: "\(filePath)", line: Int(line), column: Int(column))
        Issue.record(Comment(rawValue: message), sourceLocation: location)
    }
}
