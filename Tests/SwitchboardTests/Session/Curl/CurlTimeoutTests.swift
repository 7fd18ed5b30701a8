#if os(Linux)
import Foundation
@testable import Switchboard
@testable import SwitchboardCurl
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct CurlTimeoutTests {
    @Test("no timeout has no deadline, and the longest one has a late deadline")
    func deadlines() throws {
        let session = CurlSession()
        let loop = try #require(session.existingLoop)
        func deadline(_ timeouts: Timeouts) throws -> UInt64 {
            var request = NetworkRequest(.get, URL(text: "http://h.test/"))
            request.timeouts = timeouts
            return try session.makeExchange(request.encodedAndValidated(), over: loop).deadline
        }
        let second: UInt64 = 1_000_000_000
        let start = DispatchTime.now().uptimeNanoseconds
        let usual = try deadline(.standard)
        #expect(usual >= start + 60 * second && usual <= DispatchTime.now().uptimeNanoseconds + 60 * second)
        let none = try deadline(.none)
        #expect(none == .max)
        for longest in [Timeouts(idle: .seconds(Int64.max)), Timeouts(idle: nil, attempt: .seconds(Int64.max))] {
            let late = try deadline(longest)
            #expect(late > start + 365 * 86_400 * second && late < .max)
        }
    }
}
#endif
