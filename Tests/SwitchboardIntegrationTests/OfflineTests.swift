#if os(Linux)
import SwitchboardResilience
import Foundation
import SwitchboardTestSupport
import Switchboard
import SwitchboardTesting
import Testing

/// Errors of sessions on an offline machine. The test runs this program again in a network namespace that has only
/// loopback.
@Suite(.timeLimit(.minutes(10)))
struct OfflineTests {
    private static let isInside = ProcessInfo.processInfo.environment["SWITCHBOARD_OFFLINE"] != nil

    /// Whether this system allows a new namespace with loopback.
    private static let canGoOffline: Bool = {
        guard !isInside, let unshare = Program.path(of: "unshare"),
            let result = try? Program.run(unshare, enter + ["true"])
        else { return false }
        return result.exit == 0
    }()

    private static let enter = ["-rn", "/bin/sh", "-c", #"ip link set lo up && exec "$@" 2>&1"#, "sh"]

    @Test(
        "requests in a namespace without routes fail as noInternetConnection", .requirement("S1.9"),
        .enabled(if: canGoOffline))
    func namespace() throws {
        let unshare = try #require(Program.path(of: "unshare"))
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let result = try Program.run(
            unshare,
            Self.enter + [
                "/usr/bin/env", "SWITCHBOARD_OFFLINE=unreachable", own, "--testing-library", "swift-testing",
                "--filter",
                "SwitchboardIntegrationTests.OfflineTests",
            ])
        let output = String(decoding: result.output, as: UTF8.self)
        #expect(result.exit == 0, "\(output)")
        for name in ["offline", "loopback"] {
            let line = "Test \"inside: \(name)\" with \(SessionKind.allCases.count) test cases passed"
            #expect(output.contains(line), "\(output)")
        }
    }

    /// Commands that change a link of the namespace, and whether the result is a network. `ip` assigns each interface
    /// that is up an fe80 address, which reaches only its link.
    private static let links = [
        ("ip link add v0 type veth peer name v1; ip link set v0 up; ip link set v1 up; state UP", false),
        ("ip addr add 169.254.7.7/16 dev v0", false),
        ("ip addr del 169.254.7.7/16 dev v0 && ip addr add 169.254.79.1/32 dev v0", true),  // as in AWS Lambda
        ("ip addr add 192.0.2.9/24 dev v0", true),
        ("ip link set v1 down; state LOWERLAYERDOWN", false),
        ("ip link set v1 up; state UP", true),
        ("ip link set v0 down", false),
    ]

    /// A shell function that waits for a link's state, because the kernel changes the state after the command returns.
    private static let state = """
        exec 2>&1
        state() { for i in $(seq 200); do ip -o link show v0 | grep -q " state $1 " && return; sleep 0.05; done; false; }
        """

    @Test("a network is an interface with a link and an address", .requirement("S1.9"), .enabled(if: canGoOffline))
    func links() throws {
        let unshare = try #require(Program.path(of: "unshare"))
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let script = Self.links.map { step, isNetwork in
            "\(step) && SWITCHBOARD_OFFLINE=\(isNetwork ? "reachable" : "unreachable") \"$@\""
        }
        let result = try Program.run(
            unshare,
            [
                "-rn", "/bin/sh", "-c", Self.state + "\n" + script.joined(separator: " && "), "sh", own,
                "--testing-library", "swift-testing", "--filter", "SwitchboardIntegrationTests.OfflineTests/link",
            ])
        let output = String(decoding: result.output, as: UTF8.self)
        #expect(result.exit == 0, "\(output)")
        let passed = output.components(separatedBy: "Test \"inside: link\" passed").count - 1
        #expect(passed == Self.links.count, "\(output)")
    }

    @Test("inside: link", .enabled(if: isInside, "run by the other test"))
    func link() {
        #expect(Reachability.system.status.rawValue == ProcessInfo.processInfo.environment["SWITCHBOARD_OFFLINE"])
    }

    @Test("inside: offline", .enabled(if: isInside, "run by the other test"), arguments: SessionKind.allCases)
    func offline(kind: SessionKind) async throws {
        #expect(Reachability.system.status == .unreachable)
        var texts = ["http://192.0.2.1/", "http://example.com/", "https://example.com/"]
        if kind == .curl { texts.append("http://[2001:db8::1]/") }
        for text in texts {
            let url = try #require(URL(string: text))
            let error = await #expect(throws: NetworkError.self) {
                try await kind.make().send(NetworkRequest(.get, url))
            }
            #expect(error?.code == .noInternetConnection, "\(text): \(String(describing: error))")
            #expect(error?.message == "No Internet connection")
            #expect(error?.url == url)
            #expect(error?.underlying != nil)
        }
    }

    @Test("inside: loopback", .enabled(if: isInside, "run by the other test"), arguments: SessionKind.allCases)
    func loopback(kind: SessionKind) async throws {
        let port = try await MockServer.run { server in
            server.enqueue(.text("here"))
            let response = try await kind.make().send(NetworkRequest(.get, server.url))
            #expect(response.text == "here")
            #expect(Reachability.system.canReach(server.url))
            return server.port
        }
        let url = URL(string: "http://127.0.0.1:\(port)/")
        let error = await #expect(throws: NetworkError.self) { try await kind.make().send(NetworkRequest(.get, url)) }
        #expect(error?.code == .cannotConnect)
    }
}
#endif
