import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Connections of curl, OpenSSL's command-line client and Python to a server with TLS.
@Suite(.needsTLS, .timeLimit(.minutes(10)))
struct MockServerTLSWitnessTests {
    @Test("curl trusts the authority and nothing else", .enabled(if: Curl.isInstalled))
    func curlTrust() async throws {
        try await MockServer.run(isSecure: true) { server in
            server.enqueue(.text("one"), .text("two"), .text("three"))
            try await server.withAuthorityFile { authority in
                let curl = try await Curl.run(
                    "--cacert", authority, "\(server.url)/1", "https://localhost:\(server.port)/2", "\(server.url)/3",
                    "--write-out", " %{http_version} %{num_connects};")
                #expect(curl.exit == 0)
                #expect(curl.text == "one 1.1 1;two 1.1 1;three 1.1 0;")
            }
            #expect(try await Curl.run("\(server.url)").exit == 60)  // CURLE_PEER_FAILED_VERIFICATION
        }
    }

    @Test("curl refuses a certificate of another name", .enabled(if: Curl.isInstalled))
    func curlRefuses() async throws {
        try await MockServer.run(isSecure: true, certificateNames: ["elsewhere.example"]) { server in
            try await server.withAuthorityFile { authority in
                let curl = try await Curl.run("--cacert", authority, "\(server.url)")
                #expect(curl.exit == 60)  // CURLE_PEER_FAILED_VERIFICATION
            }
        }
    }

    @Test(
        "openssl verifies the certificate", .enabled(if: Witness.openssl.isInstalled),
        arguments: ["localhost", "::1", "127.0.0.1"])
    func opensslVerifies(name: String) async throws {
        try await MockServer.run(isSecure: true) { server in
            try await server.withAuthorityFile { authority in
                let kind = name == "localhost" ? "-verify_hostname" : "-verify_ip"
                let strict = [
                    "-x509_strict", "-no-CApath", "-no-CAfile", "-CAfile", authority, "-purpose", "sslserver",
                ]
                let (text, exit) = try await Witness.openssl.run(
                    ["s_client", "-connect", "127.0.0.1:\(server.port)", "-verify_return_error", kind, name] + strict)
                #expect(exit == 0)
                #expect(text.contains("Verify return code: 0 (ok)"))
                #expect(text.contains("Peer signature type: ECDSA"))
                let (_, other) = try await Witness.openssl(
                    server, "-verify_return_error", "-verify_hostname", "elsewhere.example", "-CAfile", authority)
                #expect(other == 1)
            }
        }
    }

    @Test(
        "the server supports TLS 1.2 and 1.3, and no older version",
        .enabled(if: Witness.openssl.isInstalled),
        arguments: [("TLSv1.2", "-tls1_2"), ("TLSv1.3", "-tls1_3")])
    func versions(name: String, option: String) async throws {
        try await MockServer.run(isSecure: true) { server in
            let weak = ["-cipher", "DEFAULT@SECLEVEL=0"]
            let (text, exit) = try await Witness.openssl.run(
                ["s_client", "-connect", "127.0.0.1:\(server.port)", option] + weak)
            #expect(exit == 0)
            #expect(text.contains("Protocol  : \(name)\n") || text.contains("New, \(name), Cipher is"))
            let (_, older) = try await Witness.openssl.run(
                ["s_client", "-connect", "127.0.0.1:\(server.port)", "-tls1_1"] + weak)
            #expect(older == 1)
        }
    }

    @Test("ALPN offers HTTP/1.1 only", .enabled(if: Witness.openssl.isInstalled))
    func alpn() async throws {
        try await MockServer.run(isSecure: true) { server in
            let both = try await Witness.openssl(server, "-alpn", "h2,http/1.1")
            #expect(both.text.contains("ALPN protocol: http/1.1"))
            let none = try await Witness.openssl(server)
            #expect(none.text.contains("No ALPN negotiated"))
            let other = try await Witness.openssl(server, "-alpn", "h2")
            #expect(other.exit == 1)
        }
    }

    @Test("openssl refuses another server's authority", .enabled(if: Witness.openssl.isInstalled))
    func otherAuthority() async throws {
        let first = try MockServer(isSecure: true)
        let second = try MockServer(isSecure: true)
        #expect(first.authorityPEM != second.authorityPEM)
        try await first.withFiles([#require(first.authorityPEM), #require(second.authorityPEM)]) { files in
            for (file, expected) in zip(files, [0, 1] as [Int32]) {
                let (_, exit) = try await Witness.openssl(first, "-verify_return_error", "-CAfile", file)
                #expect(exit == expected)
            }
        }
    }

    @Test(
        "Python accepts the server and receives close_notify", .enabled(if: Witness.python3.isInstalled),
        arguments: ["localhost", "127.0.0.1", "::1"])
    func pythonEnd(name: String) async throws {
        try await MockServer.run(isSecure: true) { server in
            server.enqueue(.text("hello"))
            try await server.withAuthorityFile { authority in
                let script = """
                    wrapped.sendall(b"GET /p HTTP/1.1\\r\\nHost: h\\r\\n\\r\\n")
                    text = b""
                    while not text.endswith(b"hello"): text += wrapped.recv(1000)
                    wrapped.unwrap()  # says that this is the end, and waits to hear the same
                    print(text.decode().splitlines()[0])
                    """
                let (text, exit) = try await Witness.python(script, server, authority: authority, name: name)
                #expect(exit == 0)
                #expect(text == "HTTP/1.1 200 OK\n")
            }
            try await server.waitForDisconnect(of: 1)
        }
    }

    /// For an HTTP/1.0 client the end of the connection ends a body without a length, but only if TLS announces the
    /// end.
    @Test(
        "a truncated response ends without close_notify",
        .enabled(if: Witness.python3.isInstalled),
        arguments: [
            (MockResponse.text("abcdef").chunked(2), "abcdef end"),
            (.text("abcdef").chunked(2).truncated(after: 3), "abc early"),
            (.raw("HTTP/1.0 200 OK\r\n\r\nabc"), "abc end"),
        ])
    func earlyEnd(response: MockResponse, seen: String) async throws {
        try await MockServer.run(isSecure: true) { server in
            server.enqueue(response)
            try await server.withAuthorityFile { authority in
                let script = """
                    wrapped.sendall(b"GET /p HTTP/1.0\\r\\nHost: h\\r\\n\\r\\n")
                    text, end = b"", "end"
                    try:
                        while some := wrapped.recv(1000): text += some
                    except ssl.SSLError as error:
                        # Some builds of Python have no class of its own for it.
                        isEOF = isinstance(error, ssl.SSLEOFError) or "UNEXPECTED_EOF" in (error.reason or "")
                        end = "early" if isEOF else str(error)
                    print(text.decode().split("\\r\\n\\r\\n")[1], end)
                    """
                let (text, _) = try await Witness.python(script, server, authority: authority)
                #expect(text == "\(seen)\n")
            }
        }
    }

    @Test("requests before the client's close_notify are answered", .enabled(if: Witness.python3.isInstalled))
    func requestsBeforeEnd() async throws {
        try await MockServer.run(isSecure: true) { server in
            server.enqueue(.text("one"), .text("two"))
            try await server.withAuthorityFile { authority in
                // One write sends two requests and the announced end. The connection stays open.
                let script = """
                    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
                    plain = socket.create_connection(("127.0.0.1", int(sys.argv[2])), timeout=20)
                    client = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
                    def step(call):
                        while True:
                            try: return call()
                            except ssl.SSLWantReadError:
                                plain.sendall(outgoing.read())
                                incoming.write(plain.recv(65536))
                    step(client.do_handshake)
                    client.write(b"GET / HTTP/1.1\\r\\nHost: h\\r\\n\\r\\n" * 2)
                    try: client.unwrap()
                    except ssl.SSLWantReadError: pass
                    plain.sendall(outgoing.read())
                    while some := plain.recv(65536): incoming.write(some)
                    text = b""
                    try:
                        while some := client.read(65536): text += some
                    except ssl.SSLZeroReturnError: pass  # the server's own end
                    print(text.count(b"\\r\\n\\r\\none"), text.endswith(b"\\r\\n\\r\\ntwo"))
                    """
                let (text, _) = try await Witness.python(script, server, authority: authority)
                #expect(text == "1 True\n")
            }
            #expect(server.requests.count == 2)
        }
    }
}
