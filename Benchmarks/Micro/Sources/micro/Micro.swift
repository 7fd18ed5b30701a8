import Dispatch
import Foundation
import Movies

/// Measures single operations: `micro [--batches N] [--seconds S] [--only NAME,NAME] [--page FILE] [--url BASE]`.
///
/// `--seconds` is the length of one batch. `--only` selects operations whose names begin with a NAME. `--page` is a
/// page of movies as JSON of about 12 KB. `--url` is a server with that page at `now_playing`; without it no operation
/// uses a network. Prints one line of JSON.
@main struct Micro {
    private struct Report: Encodable {
        /// The nanoseconds of CPU per operation, by the operation's name. Under valgrind, the number of operations that
        /// the file of that name covers.
        let operations: [String: Double]
    }

    /// Waits on a semaphore instead of being async, because the main thread of an async program crashes valgrind 3.19.
    static func main() {
        Task.detached { await run() }
        DispatchSemaphore(value: 0).wait()
    }

    private static func run() async {
        let arguments = Arguments(CommandLine.arguments)
        do {
            let measure = Measure(
                batches: try arguments.number("batches", default: 7),
                secondsPerBatch: try arguments.number("seconds", default: 0.1))
            let only = (arguments["only"] ?? "").split(separator: ",", omittingEmptySubsequences: false).map(
                String.init)
            var figures = MicroFigures(measure, only: only)
            try await RequestBenchmarks().run(&figures)
            try await EncoderBenchmarks().run(&figures)
            let page = try Data(contentsOf: try arguments.file("page"))
            try await JSONBenchmarks(page: page).run(&figures)
            try await ChainBenchmarks(page: page).run(&figures)
            try await CacheBenchmarks(page: page).run(&figures)
            if arguments.has("url") { try await CurlBenchmarks().run(&figures) }
            try await EventBenchmarks().run(&figures)
            try await GrowthBenchmarks().run(&figures)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(Report(operations: figures.values)), as: UTF8.self))
            exit(0)
        } catch {
            try? FileHandle.standardError.write(contentsOf: Data("micro: \(error)\n".utf8))
            exit(error is UsageError ? 64 : 1)
        }
    }
}

/// An operation returned an unexpected result.
struct UnexpectedAnswer: Error, CustomStringConvertible {
    let description: String
}
