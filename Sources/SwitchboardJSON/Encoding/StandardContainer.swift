/// A type that conforms to ``DirectValue`` only with certain contents.
protocol StandardContainer {
    static var isDictionary: Bool { get }
    static var isOptional: Bool { get }
}

extension StandardContainer {
    static var isDictionary: Bool { false }
    static var isOptional: Bool { false }
}

extension Array: StandardContainer {}
extension Dictionary: StandardContainer { static var isDictionary: Bool { true } }
extension Optional: StandardContainer { static var isOptional: Bool { true } }
