import Testing

/// The rows of `Tests/REQUIREMENTS.md` that a test proves. `scripts/check/requirements` reads them in the sources.
public struct Requirement: TestTrait {
    /// Numbers such as `S2.21`.
    public let numbers: [String]
}

extension Trait where Self == Requirement {
    /// Lists the requirements that the test proves, by their numbers.
    public static func requirement(_ numbers: String...) -> Self {
        Requirement(numbers: numbers)
    }
}
