/// A step of a coding path: a member's name or an element's index. The core's parameter encoding uses it too.
package struct JSONPathKey: CodingKey {
    package let stringValue: String
    package let intValue: Int?

    package init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    package init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }

    package init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }
}
