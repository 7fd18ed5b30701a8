import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// The texts of an error for a person.
struct PersonTextTests {
    private static let endPoint = URLEndPoint(.get, URL(text: "http://h.test/users"))

    private func error(
        _ response: MockResponse, _ options: RequestOptions = RequestOptions()
    ) async -> NetworkError? {
        let router = Router<URLEndPoint>(session: StubSession(response))
        return await #expect(throws: NetworkError.self) {
            try await router.response(for: Self.endPoint, options: options)
        }
    }

    @Test("the 422 of FastAPI and of Laravel names the field")
    func fields() async {
        // The bodies of the documentation of both frameworks, on validation errors.
        let fastAPI =
            #"{"detail":[{"loc":["body","email"],"msg":"value is not a valid email address","type":"value_error.email"}]}"#
        #expect(
            await error(.json(fastAPI, statusCode: 422))?.serverMessage == "email: value is not a valid email address")
        let laravel =
            #"{"message":"The given data was invalid.","errors":{"email":["The email has already been taken."]}}"#
        #expect(
            await error(.json(laravel, statusCode: 422))?.serverMessage
                == "The given data was invalid. The email has already been taken.")
        let newer =
            #"{"message":"The email has already been taken.","errors":{"email":["The email has already been taken."]}}"#
        #expect(await error(.json(newer, statusCode: 422))?.serverMessage == "The email has already been taken.")
    }

    @Test("a page in HTML is named by its title, and a plain text is the message")
    func pages() async {
        var page = MockResponse.text(
            "<!DOCTYPE html><html><HEAD><TITLE lang=en>\n 502 Bad &amp; Gateway </TITLE></HEAD></html>")
        page.statusCode = 502
        page.headers["Content-Type"] = "text/html"
        let bad = await error(page)
        #expect(
            bad?.serverMessage == nil && bad?.reason == "the server sent a page with the title \"502 Bad & Gateway\"")
        var marked = page
        marked.body = Data("<html><title>\u{301}b</title></html>".utf8)
        let named = await error(marked)
        #expect(named?.reason == "the server sent a page with the title \"\u{301}b\"")
        let plain = await error(.text("  no such user\n", statusCode: 404))
        #expect(plain?.serverMessage == "no such user")
        #expect(await error(.data(Data("raw".utf8), statusCode: 404))?.serverMessage == nil)
        for (charset, bytes) in [
            ("ISO-8859-1", [0x61, 0xE9] as [UInt8]), ("utf-16", [0, 0x61, 0, 0xE9]), ("utf-8", [0x61, 0xC3, 0xA9]),
        ] {
            let type: HTTPHeaders = ["Content-Type": "text/plain; charset=\(charset)"]
            let text = await error(.data(Data(bytes), statusCode: 404, headers: type))
            #expect(text?.serverMessage == "aé", "\(charset)")
        }
    }

    @Test("alerts show the text for a person, and description is the developer's")
    func alerts() async {
        let error = await error(.json(#"{"message":"gone"}"#, statusCode: 404))
        #expect(error?.localizedDescription == "Not found (404)" && error?.localizedDescription == error?.message)
        #expect(
            error?.description == #"HTTP 404: Not found: the server says "gone" (GET http://h.test/users, URLEndPoint)"#
        )
    }

    @Test("only messages of the app advise to check the network for TLS and HTTP")
    func transport() async {
        let insecure = MockResponse.failure(.insecureConnection)
        #expect(await error(insecure)?.message == "No secure connection could be made")
        #expect(await error(.failure(.invalidResponse))?.message == "The response is not valid HTTP")
        #expect(await error(.failure(.cannotConnect))?.message == "Please check your network connection.")
        let own = RequestOptions { $0.statusMap = StatusMap(message: { "\($0)" }) }
        #expect(await error(insecure, own)?.message == "Please check your network connection.")
    }
}
