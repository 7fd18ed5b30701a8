#if os(Linux)
import SwitchboardCurl
import Foundation

/// Which exchanges of a loop share an HTTP/2 connection.
///
/// Before 7.88 libcurl stops reading a connection while one of its streams holds data that nobody takes. While an
/// exchange is under way whose reader may pause, no connection is joined there: that exchange has its own.
struct CurlSharing {
    private let multi: UnsafeMutableRawPointer
    private var pausing = 0

    init(_ multi: UnsafeMutableRawPointer) {
        self.multi = multi
    }

    /// Counts an exchange, before libcurl has it.
    mutating func begin(_ request: NetworkRequest) { change(request, 1) }

    /// Counts an exchange no longer, after libcurl let go of it.
    mutating func end(_ request: NetworkRequest) { change(request, -1) }

    private mutating func change(_ request: NetworkRequest, _ difference: Int) {
        guard CurlLibrary.stallsSharedConnections, request.options.streamsResponse else { return }
        pausing += difference
        // CURLPIPE_NOTHING and CURLPIPE_MULTIPLEX.
        swcurl_multi_set_long(multi, CurlMultiOption.pipelining, pausing > 0 ? 0 : 2)
    }
}
#endif
