/// Writes types as code does: `[Film]` for `Array<Film>`, and `Film?` for `Optional<Film>`.
package enum TypeText {
    package static func text(of type: Any.Type) -> String {
        (type as? any Sugared.Type)?.sugar ?? String(describing: type)
    }
}

private protocol Sugared {
    static var sugar: String { get }
}

extension Array: Sugared {
    fileprivate static var sugar: String { "[\(TypeText.text(of: Element.self))]" }
}

extension Dictionary: Sugared {
    fileprivate static var sugar: String { "[\(TypeText.text(of: Key.self)): \(TypeText.text(of: Value.self))]" }
}

extension Optional: Sugared {
    fileprivate static var sugar: String { "\(TypeText.text(of: Wrapped.self))?" }
}
