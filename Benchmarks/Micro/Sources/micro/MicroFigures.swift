import Callgrind

/// Collects figures by name.
struct MicroFigures {
    /// Nanoseconds of CPU per operation; below valgrind the number of operations that were counted.
    private(set) var values: [String: Double] = [:]
    private let measure: Measure
    private let prefixes: [String]

    /// Measures what begins with one of the prefixes.
    init(_ measure: Measure, only prefixes: [String]) {
        self.measure = measure
        self.prefixes = prefixes
    }

    /// Whether a figure of this name is asked for.
    func wants(_ name: String) -> Bool {
        prefixes.contains { name.hasPrefix($0) }
    }

    mutating func add(_ name: String, _ operation: () async throws -> Void) async rethrows {
        guard wants(name) else { return }
        values[name] = try await measure(name, operation)
    }

    /// The figure of one of `count` things that an operation does, which is long enough to be done once.
    mutating func add(_ name: String, each count: Int, _ operation: () async throws -> Void) async rethrows {
        guard wants(name) else { return }
        if callgrind_is_there() {
            callgrind_forget()
            try await operation()
            callgrind_write(name)
            values[name] = Double(count)
        } else {
            let once = Measure(batches: 1, secondsPerBatch: 0)
            values[name] = try await once(name, operation) / Double(count)
        }
    }
}
