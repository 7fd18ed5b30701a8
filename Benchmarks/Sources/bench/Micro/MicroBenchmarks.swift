import Foundation
import Switchboard

/// What costs CPU without a network: `[--batches N] [--seconds S] [--only NAME]`, the seconds of one batch; `NAME` is
/// how the names of the wanted ones begin.
struct MicroBenchmarks {
    private var figures: MicroFigures

    init(_ arguments: Arguments) throws {
        figures = MicroFigures(
            Measure(
                batches: try arguments.number("batches", default: 7),
                secondsPerBatch: try arguments.number("seconds", default: 0.1)),
            only: arguments["only"] ?? "")
    }

    struct Report: Encodable {
        /// Nanoseconds of CPU per operation.
        let nanoseconds: [String: Double]
    }

    func measure() async throws -> Report {
        var figures = figures
        try RequestBenchmarks().run(&figures)
        try EncoderBenchmarks().run(&figures)
        try await ChainBenchmarks().run(&figures)
        try await EventBenchmarks().run(&figures)
        return Report(nanoseconds: figures.nanoseconds)
    }
}

/// Collects figures by name.
struct MicroFigures {
    private(set) var nanoseconds: [String: Double] = [:]
    private let measure: Measure
    private let prefix: String

    init(_ measure: Measure, only prefix: String) {
        self.measure = measure
        self.prefix = prefix
    }

    /// Whether a figure of this name is asked for.
    func wants(_ name: String) -> Bool {
        name.hasPrefix(prefix)
    }

    mutating func add(_ name: String, _ operation: () throws -> Void) rethrows {
        guard wants(name) else { return }
        nanoseconds[name] = try measure(operation)
    }

    mutating func add(_ name: String, _ operation: () async throws -> Void) async rethrows {
        guard wants(name) else { return }
        nanoseconds[name] = try await measure(operation)
    }

    /// The figure of one of `count` things that an operation does, which is long enough to be done once.
    mutating func add(_ name: String, each count: Int, _ operation: () async throws -> Void) async rethrows {
        guard wants(name) else { return }
        let once = Measure(batches: 1, secondsPerBatch: 0)
        nanoseconds[name] = try await once(operation) / Double(count)
    }
}
