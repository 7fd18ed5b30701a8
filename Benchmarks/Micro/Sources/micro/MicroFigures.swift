import Callgrind

/// Collects figures by name.
struct MicroFigures {
    /// The nanoseconds of CPU per operation, or under valgrind the number of counted operations.
    private(set) var values: [String: Double] = [:]
    private let measure: Measure
    private let prefixes: [String]

    /// Measures only operations whose names begin with one of the prefixes.
    init(_ measure: Measure, only prefixes: [String]) {
        self.measure = measure
        self.prefixes = prefixes
    }

    /// Returns whether this operation is selected.
    func wants(_ name: String) -> Bool {
        prefixes.contains { name.hasPrefix($0) }
    }

    mutating func add(_ name: String, _ operation: () async throws -> Void) async rethrows {
        guard wants(name) else { return }
        values[name] = try await measure(name, operation)
    }

    /// Adds the figure per item of an operation that processes `count` items. The operation is long enough to run once.
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

    /// Adds the figures of one run with `count` items, and of one with twice as many under `name` and `.twice`.
    ///
    /// `Benchmarks/instructions` prints the factor between them.
    mutating func add(
        _ name: String, doubling count: Int, _ prepare: (_ count: Int) throws -> () throws -> Void
    ) async throws {
        guard wants(name) else { return }
        // Work that happens once per process is not counted.
        try prepare(1)()
        for (name, count) in [(name, count), (name + ".twice", 2 * count)] {
            let operation = try prepare(count)
            try await add(name, each: 1) { try operation() }
        }
    }
}
