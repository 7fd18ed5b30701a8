import Switchboard

/// A server fault and its expected error, for tests of an app's error handling. ``all`` lists those of HTTP, and
/// ``webSocket`` those of WebSockets.
///
/// ```swift
/// import SwitchboardTesting
///
/// @Test(arguments: MockFault.all)
/// func theListNeverHangsNorCrashes(fault: MockFault) async throws {
///     try await MockServer.run { server in
///         server.enqueue(fault.response)
///         let error = await #expect(throws: NetworkError.self) {
///             try await NetworkManager().data(from: server.url)
///         }
///         #expect(error?.code == fault.code)
///     }
/// }
/// ```
///
/// Tests confirm each fault on the wire with programs that do not use this package.
public struct MockFault: Sendable, CustomStringConvertible {
    /// A short name, which never changes: `close-on-accept`.
    public let name: String
    /// The server's behavior, in words.
    public let summary: String
    /// The script: for ``MockServer/enqueue(_:)``, and for a ``StubSession`` if ``needsSocket`` is false.
    public let response: MockResponse
    /// The error that a session throws, or its general code. Nil when the response arrives all the same.
    ///
    /// Match it with `~=`: a connection that is reset at once may or may not have been open. A
    /// ``/Switchboard/NetworkError/Code/timedOut`` comes from the request's timeout, by default after a minute.
    public let code: NetworkError.Code?
    /// Whether the fault needs a request with a body.
    public let needsBody: Bool
    /// Whether URLSession on Linux may end the process on this fault: Foundation before 6.4 traps when a connection
    /// breaks inside the response's head.
    public let trapsURLSessionOnLinux: Bool

    init(
        _ name: String, _ summary: String, _ response: MockResponse, _ code: NetworkError.Code?,
        needsBody: Bool = false,
        trapsURLSessionOnLinux: Bool = false
    ) {
        self.name = name
        self.summary = summary
        self.response = response
        self.code = code
        self.needsBody = needsBody
        self.trapsURLSessionOnLinux = trapsURLSessionOnLinux
    }

    /// Whether only a ``MockServer`` can produce the fault. A ``StubSession`` throws
    /// ``/Switchboard/NetworkError/Code/unsupported`` for it.
    public var needsSocket: Bool { response.needsSocket != nil }

    /// The name.
    public var description: String { name }
}
