import Foundation

/// A part of the library that reads bytes of a stranger.
struct Target: Sendable {
    let name: String
    /// Reads the bytes, and checks the result with ``check(_:_:)``.
    let test: @Sendable (UnsafeRawBufferPointer) -> Void
    /// Only reads the bytes, to find out how long that takes.
    let read: @Sendable (UnsafeRawBufferPointer) -> Void

    init(
        _ name: String, test: @escaping @Sendable (UnsafeRawBufferPointer) -> Void,
        read: (@Sendable (UnsafeRawBufferPointer) -> Void)? = nil
    ) {
        (self.name, self.test, self.read) = (name, test, read ?? test)
    }

    /// The test of the target that `main.swift` runs. libFuzzer's callback has no context.
    nonisolated(unsafe) static var chosen: @Sendable (UnsafeRawBufferPointer) -> Void = { _ in }

    static let all = json + contracts + heads + addresses + fields + stored + streams + texts + peers
}

/// Ends the process with a message when a claim does not hold. libFuzzer then keeps the input.
func check(_ holds: Bool, _ text: @autoclosure () -> String) {
    if !holds { fatalError(text()) }
}

/// Choices and texts that are made of the input's bytes.
struct Choices {
    private var rest: Slice<UnsafeRawBufferPointer>

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

    /// A number below a count. 0 at the end of the input.
    mutating func number(below count: Int) -> Int { Int(rest.popFirst() ?? 0) % count }

    /// A number below a count from the last byte. A choice that is added to a target is made so, and the inputs of its
    /// corpus keep their meaning with a zero behind each.
    mutating func lastNumber(below count: Int) -> Int { Int(rest.popLast() ?? 0) % count }

    mutating func element<Element>(_ elements: [Element]) -> Element { elements[number(below: elements.count)] }

    mutating func lastElement<Element>(_ elements: [Element]) -> Element { elements[lastNumber(below: elements.count)] }

    /// A short text, which may have any character.
    mutating func text() -> String {
        let count = number(below: 32)
        defer { rest = rest.dropFirst(count) }
        return String(decoding: rest.prefix(count), as: UTF8.self)
    }

    mutating func word() -> UInt64 { (0..<8).reduce(0) { word, _ in word << 8 | UInt64(rest.popFirst() ?? 0) } }

    /// All bytes that are left.
    mutating func all() -> Data {
        defer { rest = rest.dropFirst(rest.count) }
        return Data(rest)
    }
}

extension Data {
    /// The bytes in chunks, whose sizes the first byte determines.
    var chunks: [Data] {
        guard var step = first.map({ Int($0) }) else { return [] }
        var (rest, chunks) = (dropFirst(), [Data]())
        while !rest.isEmpty {
            chunks.append(Data(rest.prefix(step % 19 + 1)))
            rest = rest.dropFirst(step % 19 + 1)
            step = (step * 5 + 3) % 256
        }
        return chunks
    }
}

extension String {
    init(_ bytes: UnsafeRawBufferPointer) { self.init(decoding: bytes, as: UTF8.self) }

    /// Whether the text could add a line to a head.
    var breaksHead: Bool { utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 } }
}

extension Result {
    var value: Success? { try? get() }
    var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}
