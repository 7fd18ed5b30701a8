extension AsyncSequence {
    /// Returns all elements in order.
    package func elements() async rethrows -> [Element] {
        try await reduce(into: []) { $0.append($1) }
    }
}
