import Switchboard

/// One of the ways in which a server fails, with what becomes of it: to see how a client of yours bears all of them.
///
/// ```swift
/// @Test(arguments: MockFault.all)
/// func theListNeverHangsNorCrashes(fault: MockFault) async throws {
///     try await MockServer.run { server in
///         server.enqueue(fault.response)
///         let list = await MovieList.load(from: server.url)
///         #expect(list.isOffline == (fault.code != nil))
///     }
/// }
/// ```
///
/// What each of them is on the wire is also told by programs that know nothing of this package.
public struct MockFault: Sendable, CustomStringConvertible {
    /// A short name, the same for good: `close-on-accept`.
    public let name: String
    /// What the server does, in words.
    public let summary: String
    /// The script: for ``MockServer/enqueue(_:)``, and for a ``StubSession`` where ``needsSocket`` is false.
    public let response: MockResponse
    /// The error that a session throws, or its general code: a connection that is reset at once may or may not have
    /// stood, so match it with `~=`. Nil when the response arrives all the same. A timeout, where it is
    /// ``/Switchboard/NetworkError/Code/timedOut``, is the request's own: the default waits for a minute.
    public let code: NetworkError.Code?
    /// Whether it needs a request with a body.
    public let needsBody: Bool
    /// Whether URLSession on Linux may end the process over it: Foundation before 6.4 traps when a connection breaks
    /// inside the response's head.
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

    /// Whether only a ``MockServer`` can show it: a ``StubSession`` throws
    /// ``/Switchboard/NetworkError/Code/unsupported``.
    public var needsSocket: Bool { response.needsSocket != nil }

    /// The name.
    public var description: String { name }
}
