import Foundation

extension URL {
    /// Creates a URL from a literal in a test.
    package init(text: StaticString) {
        self.init(string: "\(text)")!
    }
}
