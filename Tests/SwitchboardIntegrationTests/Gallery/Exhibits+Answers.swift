import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import SwitchboardWebSocket

extension Exhibit {
    // MARK: The connection or the answer broke

    static let broken: [Exhibit] = [
        Exhibit(.timedOut, "A server that takes the request and says nothing, with `timeouts.attempt` of 0.2 s.") {
            try await Gallery.ask(server: .stall, options: RequestOptions { $0.timeouts.attempt = .milliseconds(200) })
        },
        Exhibit(.cannotConnect, "A port of this machine where nothing listens.") {
            let port = try MockServer().deadPort
            _ = try await Gallery.router(at: "http://127.0.0.1:\(port)/", DefaultSession.make()).response(for: .list)
        },
        Exhibit(.cannotFindHost, "A host name that does not exist.") {
            _ = try await Gallery.router(at: "http://films.invalid/", DefaultSession.make()).response(for: .list)
        },
        Exhibit(
            code: .noInternetConnection, deed: "Another machine, asked by one that is offline.", provoke: Offline.texts),
        Exhibit(.connectionLost, "A server that takes the request and closes the connection.") {
            try await Gallery.ask(server: .close)
        },
        Exhibit(.insecureConnection, "`https` to a server whose certificate nobody vouches for.") {
            try await MockServer.run(isSecure: true) { server in
                let router = Gallery.router(at: server.url.absoluteString, DefaultSession.make())
                _ = try await router.response(for: .list)
            }
        },
        Exhibit(.invalidResponse, "A server that answers with something that is not HTTP.") {
            try await Gallery.ask(server: .raw("SSH-2.0-OpenSSH_9.6\r\n"))
        },
        Exhibit(.truncatedBody, "A server that closes the connection after 5 bytes of its body.") {
            try await Gallery.ask(server: .json(#"[{"title":"Stalker"}]"#).truncated(after: 5))
        },
        Exhibit(.responseTooLarge, "A body of 21 bytes with `limits.responseBody` of 10.") {
            try await Gallery.ask(
                server: .json(#"[{"title":"Stalker"}]"#), options: RequestOptions { $0.limits.responseBody = 10 })
        },
        Exhibit(.headersTooLarge, "A header of more bytes than `limits.responseHeaders`, which is 1,000.") {
            try await Gallery.ask(
                server: .oversizedHeader(5_000), options: RequestOptions { $0.limits.responseHeaders = 1_000 })
        },
        Exhibit(.webSocketClosed, "A message on a WebSocket that the server has closed.") {
            let session = StubSession(.webSocket(.close(1001, reason: "restart")))
            let socket = try await Gallery.router(session).webSocket(for: .list)
            _ = try await socket.receive()
            try await socket.send(.text("late"))
        },
        Exhibit(.cannotDecodeResponse, "A body that is said to be gzip and is not.") {
            try await Gallery.ask(server: .json(#"[{"title":"Stalker"}]"#).mislabelled())
        },
        Exhibit(.cannotWriteFile, "A download into a folder that does not exist.") {
            try await withFolder { folder in
                let router = Gallery.router(StubSession { _ in .text("poster") })
                try await router.download(.film(id: 7), to: folder.appendingPathComponent("posters/7.bmp"))
            }
        },
        Exhibit(.verificationFailed, "A download whose `verify:` throws.") {
            enum Checksum: Error { case differs }
            try await withFolder { folder in
                let router = Gallery.router(StubSession { _ in .text("poster") })
                try await router.download(.film(id: 7), to: folder.appendingPathComponent("7.bmp")) { _ in
                    throw Checksum.differs
                }
            }
        },
    ]

    // MARK: A redirect was not followed

    static let refused: [Exhibit] = [
        Exhibit(.tooManyRedirects, "A server that redirects for ever.") {
            try await Gallery.ask(.redirectLoop)
        },
        Exhibit(.redirectRefused, "A redirect from https to http.") {
            try await Gallery.ask(.redirect(to: "http://films.example.com/films?token=hunter2"))
        },
    ]

    // MARK: A response arrived and its status was not accepted

    static let statuses: [Exhibit] = [
        Exhibit(.badRequest, "400, with a body in which the server explains itself.") {
            try await Gallery.ask(.json(#"{"message":"The page must be 1 or more."}"#, statusCode: 400))
        },
        Exhibit(.unauthorized, "401, without a body.") { try await Gallery.ask(.status(401)) },
        Exhibit(.forbidden, "403, without a body.") { try await Gallery.ask(.status(403)) },
        Exhibit(.notFound, "404, with a page of text.") {
            try await Gallery.ask(.text("No such film", statusCode: 404))
        },
        Exhibit(.error4xx, "422, with a body in which the server explains itself.") {
            try await Gallery.ask(.json(#"{"error":{"message":"stars must be 1 to 5"}}"#, statusCode: 422))
        },
        Exhibit(.serverError, "500, with a page of text.") {
            try await Gallery.ask(.text("Traceback: password=hunter2", statusCode: 500))
        },
        Exhibit(.error5xx, "503 three times, through `RetryPolicy`.") {
            try await Gallery.ask(.status(503), [RetryPolicy(clock: TestClock(skips: true))])
        },
        Exhibit(.redirection, "304 to a request that has no stored answer.") { try await Gallery.ask(.status(304)) },
        Exhibit(.unexpectedStatus, "A status that HTTP does not have, 799.") { try await Gallery.ask(.status(799)) },
        Exhibit(.custom, "A 409 with a message, and `options.statusMap = .service`.") {
            try await Gallery.ask(
                .json(#"{"message":"You have rated this film already."}"#, statusCode: 409),
                options: RequestOptions { $0.statusMap = .service })
        },
        Exhibit(.other, "A 502 without a message, and `options.statusMap = .service`.") {
            try await Gallery.ask(.status(502), options: RequestOptions { $0.statusMap = .service })
        },
    ]
}
