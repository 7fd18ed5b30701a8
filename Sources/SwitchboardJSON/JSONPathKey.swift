/// A step of a coding path: a member's name, or an element's place. The core encodes parameters with it too.
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
