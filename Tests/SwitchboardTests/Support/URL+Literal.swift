import Foundation

extension URL {
    /// Creates a URL from a literal in a test.
    init(text: StaticString) {
        self.init(string: "\(text)")!
    }
}
