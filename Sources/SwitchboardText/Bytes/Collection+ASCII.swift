extension Collection<UInt8> {
    /// Compares with lower-case ASCII text, ignoring case.
    @inlinable
    package func equalsLowercase(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && starts(withLowercase: text)
    }

    /// Returns whether the bytes start with a lower-case ASCII text, ignoring case.
    @inlinable
    package func starts(withLowercase text: StaticString) -> Bool {
        text.withUTF8Buffer { prefix(text.utf8CodeUnitCount).lazy.map(\.lowercased).elementsEqual($0) }
    }
}

extension BidirectionalCollection<UInt8> {
    @inlinable package var trimmedOfBlanks: SubSequence {
        let bytes = drop(while: \.isBlank)
        guard let last = bytes.lastIndex(where: { !$0.isBlank }) else { return bytes }
        return bytes[...last]
    }
}
