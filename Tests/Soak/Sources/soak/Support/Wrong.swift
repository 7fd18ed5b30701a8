/// A value that the library must not return.
struct Wrong: Error, CustomStringConvertible {
    let description: String
}

func check(_ isRight: Bool, _ what: @autoclosure () -> String) throws(Wrong) {
    if !isRight { throw Wrong(description: what()) }
}
