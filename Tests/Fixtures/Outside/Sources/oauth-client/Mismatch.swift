/// An unmet expectation.
struct Mismatch: Error, CustomStringConvertible {
    let description: String
}

func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) throws {
    if !isTrue { throw Mismatch(description: what()) }
}
