#if os(Linux) && compiler(>=6.2)
import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

@testable import SwitchboardInspector

/// An inspector in a process that can start no thread. The test has a separate process, to which the limit applies.
@Suite(.timeLimit(.minutes(10))) struct InspectorThreadTests {
    @Test("a connection without a thread is closed, the next is served")
    func connection() async {
        await #expect(processExitsWith: .success) {
            let inspector = try NetworkInspector(CallLimits())
            let page = try Page(inspector)
            try withoutThreads {
                let refused = try page.open("GET /", [page.host, page.cookie]).readAll()
                #expect(refused.text.isEmpty && refused.end != .silent)
                let error = #expect(throws: NetworkError.self) { try NetworkInspector(CallLimits()) }
                #expect(error?.code == .cannotConnect)
            }
            #expect(try page.get("/").status == 200)
            withExtendedLifetime(inspector) {}
        }
    }
}
#endif
