import Foundation
import SwitchboardTestSupport
import Testing

/// `openssl s_server` with an untrusted certificate: TLS from an independent program.
struct OpenSSLServer {
    /// The path of the program, or nil when it is not installed.
    static let program = Program.path(of: "openssl")

    let port: Int

    /// Runs the server, on a free port, while `body` runs.
    static func run(_ body: (OpenSSLServer) async throws -> Void) async throws {
        let program = try #require(program)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("switchboard-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (key, certificate) = (folder.appendingPathComponent("key").path, folder.appendingPathComponent("cert").path)
        let (_, exit) = try Program.run(
            program,
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
            ])
        try #require(exit == 0)

        let serving = try Program(
            program, ["s_server", "-accept", "127.0.0.1:0", "-key", key, "-cert", certificate, "-www"])
        defer { serving.kill() }
        try await body(OpenSSLServer(port: #require(try port(in: serving.output))))
    }

    /// Reads the number behind `ACCEPT 127.0.0.1:`, the server's first output. Returns nil when the server ends without
    /// it.
    private static func port(in output: FileHandle) throws -> Int? {
        var text = ""
        while let data = try output.read(upToCount: 1), !data.isEmpty {
            text += String(decoding: data, as: UTF8.self)
            if text.hasSuffix("\n"), let line = text.split(separator: "\n").first(where: { $0.hasPrefix("ACCEPT") }) {
                return line.split(separator: ":").last.flatMap { Int($0) }
            }
        }
        return nil
    }
}

extension Trait where Self == ConditionTrait {
    static var needsOpenSSL: Self {
        .enabled(if: OpenSSLServer.program != nil, "left out without the openssl command")
    }
}
