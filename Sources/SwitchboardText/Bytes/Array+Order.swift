extension [String] {
    /// The indices of the texts in ascending order. Equal texts keep their order.
    fileprivate var order: [Int] { indices.sorted { self[$0] < self[$1] } }
}

extension Array {
    /// Returns the elements sorted by name. Equal names keep their order. All element types share one sort of names,
    /// because a specialized sort for each type takes longer to compile.
    package func sorted(byName name: (Element) -> String) -> [Element] {
        map(name).order.map { self[$0] }
    }
}
