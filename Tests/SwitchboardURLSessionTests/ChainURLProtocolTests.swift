import Foundation
import Switchboard
import Testing

@testable import SwitchboardURLSession

struct ChainURLProtocolTests {
    @Test("a loading without a task ends too", .timeLimit(.minutes(10)))
    func noTask() async throws {
        let url = try #require(URL(string: "http://a.example/"))
        #expect(await LoadingClient().load(URLRequest(url: url)) == .cannotConnectToHost)
    }

    @Test("every loading starts on Apple, and that of a running task on Linux")
    func states() {
        for state in [URLSessionTask.State.running, .suspended, .canceling, .completed] {
            #expect(ChainURLProtocol.loads(in: state, startsStoppedTasks: false))
            #expect(ChainURLProtocol.loads(in: state, startsStoppedTasks: true) == (state == .running))
        }
    }
}
