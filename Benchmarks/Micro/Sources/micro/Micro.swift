import Dispatch
import Foundation
import Movies

/// Measures single operations: `micro [--batches N] [--seconds S] [--only NAME,NAME] [--page FILE] [--url BASE]`.
///
/// `--seconds` are those of one batch. A name is how the names of the wanted operations begin. `--page` is a page of movies as
/// JSON, of about 12 KB. `--url` is a server that has it as `now_playing`; without it nothing goes over a network. Prints
/// one line of JSON.
@main struct Micro {
    private struct Report: Encodable {
        /// By the operation's name: nanoseconds of CPU; below valgrind how often it was done, for the file of that name.
        let operations: [String: Double]
    }

    /// Not async: the main thread of an async program waits in a way that valgrind 3.19 does not survive.
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
            if arguments.has("url") { try await CurlBenchmarks().run(&figures) }
            try await EventBenchmarks().run(&figures)
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

/// An operation did not give what it should.
struct UnexpectedAnswer: Error, CustomStringConvertible {
    let description: String
}
