import Testing

/// The rows of the package's `Tests/REQUIREMENTS.md` that a test proves. `scripts/check/requirements` reads them.
package struct Requirement: TestTrait {
    /// The numbers, such as `S2.21`.
    package let numbers: [String]
}

extension Trait where Self == Requirement {
    /// Lists the requirements that the test proves, by number.
    package static func requirement(_ numbers: String...) -> Self {
        Requirement(numbers: numbers)
    }
}
