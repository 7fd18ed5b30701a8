import Foundation
import Movies

/// Takes one measurement per process, so that peak memory belongs to one client. Prints one line of JSON.
@main struct Bench {
    static func main() async {
        let arguments = Arguments(CommandLine.arguments.dropFirst())
        do {
            let report: any Encodable =
                switch arguments.command {
                case "http": try await HTTPCell(arguments).measure()
                case "socket": try await SocketCell(arguments).measure()
                case "echo": try await EchoServer(arguments).run()
                default: throw UsageError(text: "usage: bench http|socket|echo --name value ...")
                }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(report), as: UTF8.self))
            // The process ends without shutting down the peer, and its connections end with it.
            exit(0)
        } catch {
            try? FileHandle.standardError.write(contentsOf: Data("bench: \(error)\n".utf8))
            exit(error is UsageError ? 64 : 1)
        }
    }
}
