extension [String] {
    /// The places of the texts in ascending order; equal ones keep theirs.
    fileprivate var order: [Int] { indices.sorted { self[$0] < self[$1] } }
}

extension Array {
    /// The elements in the order of their names; equal ones keep their places. One sort serves them all: a sort of its
    /// own for every kind of element takes the compiler longer.
    package func sorted(byName name: (Element) -> String) -> [Element] {
        map(name).order.map { self[$0] }
    }
}
