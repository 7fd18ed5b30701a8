import Foundation
import SwitchboardTestSupport
import Switchboard
import SwitchboardTesting

/// The texts of an offline machine. This program is run again in a network namespace that has only loopback.
enum Offline {
    static let isInside = ProcessInfo.processInfo.environment["SWITCHBOARD_GALLERY_OFFLINE"] != nil
    private static let mark = "the gallery, offline: "
    private static let namespace = ["-rn", "/bin/sh", "-c", #"ip link set lo up && exec "$@" 2>&1"#, "sh"]

    /// Whether this machine can create such a namespace.
    static let isPossible: Bool = {
        guard !isInside, let unshare = Program.path(of: "unshare"),
            let result = try? Program.run(unshare, namespace + ["true"])
        else { return false }
        return result.exit == 0
    }()

    /// Runs ``ErrorGalleryTests/offline()`` in the namespace and returns the texts that it prints.
    @Sendable static func texts() async throws -> Exhibit.Texts {
        guard let unshare = Program.path(of: "unshare") else { throw Exhibit.Missed(description: "no unshare") }
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let result = try Program.run(
            unshare,
            namespace + [
                "/usr/bin/env", "SWITCHBOARD_GALLERY_OFFLINE=1", own, "--testing-library", "swift-testing", "--filter",
                "SwitchboardIntegrationTests.ErrorGalleryTests/offline",
            ])
        let output = String(decoding: result.output, as: UTF8.self)
        guard let start = output.range(of: mark)?.upperBound else { throw Exhibit.Missed(description: output) }
        return try JSONDecoder().decode(
            Exhibit.Texts.self, from: Data(output[start...].prefix { !$0.isNewline }.utf8))
    }

    /// Sends a request within the namespace and prints the texts of its error.
    static func show() async throws {
        do {
            _ = try await Gallery.router(at: "http://192.0.2.1/", DefaultSession.make()).response(for: .list)
        } catch let error as NetworkError {
            let texts = try JSONEncoder().encode(Exhibit.Texts(error))
            print("\n\(mark)\(String(decoding: texts, as: UTF8.self))")
        }
    }
}
