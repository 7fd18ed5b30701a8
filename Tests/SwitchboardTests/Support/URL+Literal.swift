import Foundation

extension URL {
    /// A URL whose text stands in the test.
    init(text: StaticString) {
        self.init(string: "\(text)")!
    }
}
