import Foundation
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// A program that uses TLS with a server and does not depend on this package.
enum Witness: String {
    case openssl, python3

    var isInstalled: Bool { Program.path(of: rawValue) != nil }

    /// Runs the program to its end.
    func run(_ arguments: [String]) async throws -> (text: String, exit: Int32) {
        let path = try #require(Program.path(of: rawValue))
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let (output, exit) = try Program.run(path, arguments)
                        return (String(decoding: output, as: UTF8.self), exit)
                    })
            }
        }
    }

    /// Runs a Python script that talks through `wrapped`, a socket connected to `name`. Its TLS context trusts
    /// `authority` and is as strict as Python allows.
    static func python(
        _ script: String, _ server: MockServer, authority: String, name: String = "localhost"
    ) async throws -> (text: String, exit: Int32) {
        let beginning = """
            import socket, ssl, sys
            context = ssl.create_default_context(cafile=sys.argv[1])
            context.verify_flags |= ssl.VERIFY_X509_STRICT
            context.options &= ~getattr(ssl, "OP_IGNORE_UNEXPECTED_EOF", 0)  # set by some builds of Python
            plain = socket.create_connection(("127.0.0.1", int(sys.argv[2])), timeout=20)
            wrapped = context.wrap_socket(plain, server_hostname=sys.argv[3], suppress_ragged_eofs=False)

            """
        return try await python3.run(["-c", beginning + script, authority, "\(server.port)", name])
    }

    /// Runs `openssl s_client`, which prints the negotiated parameters and exits.
    static func openssl(_ server: MockServer, _ arguments: String...) async throws -> (text: String, exit: Int32) {
        try await openssl.run(["s_client", "-connect", "127.0.0.1:\(server.port)"] + arguments)
    }
}

extension MockServer {
    /// Writes the authority to a file while `body` runs.
    func withAuthorityFile(_ body: (String) async throws -> Void) async throws {
        try await withFiles([#require(authorityPEM)]) { try await body($0[0]) }
    }

    /// Writes files while `body` runs, and passes their paths.
    func withFiles(_ contents: [Data], _ body: ([String]) async throws -> Void) async throws {
        let files = contents.map { _ in
            FileManager.default.temporaryDirectory.appendingPathComponent("switchboard-\(UUID().uuidString).pem")
        }
        defer { for file in files { try? FileManager.default.removeItem(at: file) } }
        for (file, data) in zip(files, contents) { try data.write(to: file) }
        try await body(files.map(\.path))
    }
}

extension Trait where Self == ConditionTrait {
    static var needsTLS: Self { .enabled(if: MockServer.supportsTLS, "left out without OpenSSL") }
}
