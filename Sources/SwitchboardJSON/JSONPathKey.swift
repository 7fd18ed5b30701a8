/// A step of a coding path: a member's name or an element's index. The core's parameter encoding uses it too.
package struct JSONPathKey: CodingKey {
    /// The texts of numbers are made on request, because few steps of a path are read.
    private enum Step {
        case name(String), number(Int), index(Int)
    }

    private let step: Step

    package init(stringValue: String) {
        step = .name(stringValue)
    }

    package init(intValue: Int) {
        step = .number(intValue)
    }

    package init(index: Int) {
        step = .index(index)
    }

    package var stringValue: String {
        switch step {
        case .name(let name): name
        case .number(let number): String(number)
        case .index(let index): "Index \(index)"
        }
    }

    package var intValue: Int? {
        switch step {
        case .name: nil
        case .number(let number), .index(let number): number
        }
    }
}
