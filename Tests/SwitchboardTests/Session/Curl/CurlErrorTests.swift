import Foundation
import SwitchboardText
import Testing

@testable import Switchboard

/// The errors of libcurl's result codes. The names are those of libcurl's `CURLE_` codes (libcurl-errors(3)).
@Suite
struct CurlErrorTests {
    @Test(
        "every libcurl result code that HTTP can cause has its error code",
        arguments: [
            (1, .invalidResponse),  // UNSUPPORTED_PROTOCOL: the scheme is http or https, so the response was not HTTP
            (3, .invalidRequest), (4, .unsupported), (5, .cannotFindHost), (6, .cannotFindHost), (7, .cannotConnect),
            (8, .invalidResponse), (16, .invalidResponse), (18, .connectionLost), (23, .invalidResponse),
            (25, .unsupported), (26, .encodingFailed), (28, .timedOut), (35, .insecureConnection), (45, .cannotConnect),
            (49, .invalidRequest), (52, .connectionLost), (55, .connectionLost), (56, .connectionLost),
            (58, .insecureConnection), (59, .insecureConnection), (60, .insecureConnection),
            (61, .cannotDecodeResponse), (63, .responseTooLarge), (64, .insecureConnection), (65, .connectionLost),
            (66, .insecureConnection), (67, .cannotAuthenticate), (77, .insecureConnection), (83, .insecureConnection),
            (90, .insecureConnection), (91, .insecureConnection), (94, .cannotAuthenticate), (97, .cannotConnect),
            (98, .insecureConnection), (100, .headersTooLarge),
        ] as [(Int, NetworkError.Code)])
    func codes(code: Int, expected: NetworkError.Code) {
        let error = CurlError(code: code, message: "words").networkError(isHeadComplete: false)
        #expect(error.code == expected)
        #expect((error.underlying as? CurlError)?.code == code)
    }

    @Test("every result code is an error, also unknown future ones")
    func everyCodeIsAnError() {
        for code in 1...150 where code != 27 && code != 100 {
            let error = CurlError(code: code, message: "words of libcurl").networkError(isHeadComplete: true)
            #expect(error.reason == "words of libcurl")
            #expect(!error.code.rawValue.isEmpty)
        }
    }

    @Test(
        "result codes with several causes are split by message and phase",
        arguments: [
            (56, "Received HTTP code 407 from proxy after CONNECT", false, .cannotAuthenticate),
            (56, "Received HTTP code 502 from proxy after CONNECT", false, .cannotConnect),
            (56, "CONNECT tunnel failed, response 407", false, .cannotAuthenticate),
            (7, "CONNECT tunnel failed, response 407", false, .cannotAuthenticate),
            (7, "CONNECT tunnel failed, response 403", false, .cannotConnect),
            (
                7, "Failed to connect to a.example port 407 after 2 ms: Could not connect to server", false,
                .cannotConnect
            ),
            (56, "Illegal or missing hexadecimal sequence in chunked-encoding", true, .invalidResponse),
            (56, "Recv failure: Connection reset by peer", true, .connectionLost),
            (56, "Too large response headers: 307241 > 307200", false, .headersTooLarge),
            (18, "transfer closed with 5 bytes remaining to read", true, .truncatedBody),
            (27, "Out of memory", false, .headersTooLarge), (27, "Out of memory", true, .responseTooLarge),
            (43, "unable to set private key file: '(memory blob)' type PEM", false, .insecureConnection),
            (43, "A libcurl function was given a bad argument", false, .invalidResponse),
            (56, "SSL_read: error:0A000126:SSL routines::unexpected eof while reading, errno 0", true, .truncatedBody),
            (
                56, "SSL_read: error:0A000126:SSL routines::unexpected eof while reading, errno 0", false,
                .connectionLost
            ),
            (92, "HTTP/2 stream 1 was not closed cleanly", false, .connectionLost),
            (92, "HTTP/2 stream 1 was not closed cleanly", true, .truncatedBody),
        ] as [(Int, String, Bool, NetworkError.Code)])
    func words(code: Int, message: String, isHeadComplete: Bool, expected: NetworkError.Code) {
        #expect(CurlError(code: code, message: message).networkError(isHeadComplete: isHeadComplete).code == expected)
    }

    @Test(
        "libcurl's messages become plain words, and the originals are kept",
        arguments: [
            (
                7, "Failed to connect to ::1 port 9 after 2 ms: Couldn't connect to server",
                "nothing accepts connections at ::1 port 9, or it resets them"
            ),
            (
                7, "Failed to connect to 127.0.0.1 port 9: Connection refused",
                "nothing accepts connections at 127.0.0.1 port 9, or it resets them"
            ),
            (
                35, "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to 127.0.0.1:38073 ",
                "127.0.0.1:38073 closed the connection in the TLS handshake (SSL_ERROR_SYSCALL); "
                    + "perhaps the port speaks plain HTTP"
            ),
            (
                27, "Out of memory",
                "a line of it is longer than libcurl accepts, 100 KiB, whatever limits.responseHeaders is"
            ),
            (
                56, "User callback function failed",
                "it is larger than libcurl accepts over HTTP/2, whatever limits.responseHeaders is"
            ),
            (
                56, "Too large response headers: 307241 > 307200",
                "it is larger than libcurl accepts, 300 KiB, whatever limits.responseHeaders is"
            ),
            (
                56, "Recv failure: Connection reset by peer",
                "connection reset by peer, while waiting for the response"
            ),
            (6, "Could not resolve host: films.invalid", "films.invalid"),
            (5, "Could not resolve proxy: proxy.invalid", "the proxy proxy.invalid"),
            (
                25, "Chunky upload is not supported by HTTP 1.0",
                "the server speaks HTTP/1.0, which has no chunks; give the body's stream a length"
            ),
            (52, "Empty reply from server", "the server closed it without a response"),
            (
                35, "error:0A00010B:SSL routines::wrong version number",
                "the TLS handshake failed (wrong version number); perhaps the port speaks plain HTTP"
            ),
            (
                60, "SSL certificate problem: certificate has expired",
                "the server's certificate was refused (certificate has expired)"
            ),
            (
                60, "SSL certificate OpenSSL verify result: self-signed certificate (18)",
                "the server's certificate was refused (self-signed certificate); tls.extraAuthorities can trust it"
            ),
            (
                18, "end of response with 1 bytes missing", "the connection was closed, 1 byte is missing"
            ),
            (
                8, "Invalid Content-Length: value",
                "it has invalid or conflicting Content-Length fields"
            ),
            (
                7, "Failed to connect to films.invalid port 443 via 127.0.0.1 after 2 ms: Could not connect to server",
                "nothing accepts connections at 127.0.0.1, the proxy"
            ),
            (
                28, "Connection timed out after 300 milliseconds",
                "connect timeout (Connection timed out after 300 milliseconds)"
            ),
        ])
    func plainWords(code: Int, message: String, words: String) {
        let error = CurlError(code: code, message: message).networkError(isHeadComplete: false)
        #expect(error.reason == words)
        #expect((error.underlying as? CurlError)?.message == message)
    }

    @Test("a dead proxy of the environment is called a proxy, a server is not")
    func proxyOfTheEnvironment() {
        let error = CurlError(code: 7, message: "Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect")
        func reason(_ server: String) -> String? {
            error.networkError(isHeadComplete: false, route: TransportText.Route(serverBehindProxy: server)).reason
        }
        #expect(
            reason("a.test port 80") == "nothing accepts connections at 127.0.0.1 port 9, the proxy, or it resets them")
        #expect(reason("127.0.0.1 port 9") == "nothing accepts connections at 127.0.0.1 port 9, or it resets them")
    }

    @Test("a connection that is reset behind the head breaks the body")
    func resetBody() {
        let error = CurlError(code: 56, message: "Recv failure: Connection reset by peer")
            .networkError(isHeadComplete: true)
        #expect(error.reason == "connection reset by peer, while reading the body")
    }

    @Test("libcurl's message is kept without the secrets in its URL")
    func messageIsRedacted() {
        let error = CurlError(code: 3, message: "bad URL https://user:hunter2@example.com/?api_key=hunter3")
        let texts = [error.message, error.errorDescription ?? "", "\(error.networkError(isHeadComplete: false))"]
        for text in texts {
            #expect(text.contains("example.com"))
            #expect(!text.contains("hunter"))
        }
    }
}
