import Foundation
import Switchboard
import SwitchboardCalls
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct PublishedDefaultsTests {
    private let endPoint = URLEndPoint(.get, URL(text: "https://api.example.com/a"))

    @Test("the seven messages are available, word for word", .requirement("S3.11"))
    func messages() {
        #expect(
            ResponseMessage.allCases.map(\.rawValue) == [
                "success", "You need to be authenticated first.", "Bad request", "The url you requested is outdated.",
                "Network request failed.", "Response returned with no data to decode.",
                "We could not decode the response.",
            ])
    }

    @Test("each of 100...600 has the documented outcome", .requirement("S3.11"))
    func standardMap() {
        for status in 100...600 {
            let expected: ResponseMessage =
                switch status {
                case 200...299: .success
                case 400: .badRequest
                case 401, 403, 407: .authenticationError
                case 404, 410: .outdated
                default: .failed
                }
            #expect(ResponseMessage(statusCode: status) == expected, "\(status)")
        }
    }

    @Test("the article's map has its published message for each of 100...600", .requirement("S3.11"))
    func articleMap() async {
        for status in Array(100...199) + Array(300...600) {
            let expected: ResponseMessage =
                switch status {
                case 401...500: .authenticationError
                case 501...599: .badRequest
                case 600: .outdated
                default: .failed
                }
            #expect(await failure(status: status, map: .article)?.message == expected.rawValue, "\(status)")
        }
    }

    @Test(
        "5xx are server errors with every map", .requirement("S3.11"), arguments: [500, 501, 503, 599])
    func serverErrors(status: Int) async throws {
        for map in [StatusMap.standard, .article] {
            let error = await failure(status: status, map: map)
            #expect(error?.code == (status == 500 ? .serverError : .error5xx))
        }
    }

    @Test("no plain word is one of the article's messages", .requirement("S3.11"))
    func distinct() async {
        for status in Array(401...599) {
            let message = await failure(status: status, map: .standard)?.message ?? ""
            #expect(!ResponseMessage.allCases.contains { message.contains($0.rawValue) }, "\(message)")
        }
    }

    @Test(
        "with the article's map, transport failures have the same message", .requirement("S3.13"),
        arguments: [
            NetworkError.Code.timedOut, .cannotConnect, .cannotFindHost, .connectionLost, .insecureConnection,
            .invalidResponse, .unknown,
        ])
    func transport(code: NetworkError.Code) async throws {
        let router = Router<URLEndPoint>(
            session: StubSession { _ in .failure(NetworkError(code, underlying: URLError(.timedOut))) })
        let options = RequestOptions { $0.statusMap = .article }
        let error = await #expect(throws: NetworkError.self) {
            try await router.response(for: endPoint, options: options)
        }
        #expect(error?.message == "Please check your network connection.")
        #expect(error?.urlErrorCode == .timedOut)
    }

    @Test("the article's timeout is 10 seconds without a byte", .requirement("S3.10"))
    func timeout() {
        #expect(Timeouts.article == Timeouts(idle: .seconds(10)))
    }

    private func failure(status: Int, map: StatusMap) async -> NetworkError? {
        let options = RequestOptions { $0.statusMap = map }
        let router = Router<URLEndPoint>(
            session: StubSession { _ in .status(status) }, options: options)
        return await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
    }
}
