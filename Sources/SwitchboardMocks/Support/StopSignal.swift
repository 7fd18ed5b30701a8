import SwitchboardPlatform
import Switchboard

/// Wakes every thread that waits for a socket, once and permanently.
///
/// All threads poll a pipe; the byte written to it is never read.
final class StopSignal: Sendable {
    /// The end to poll.
    let descriptor: Int32
    private let writeEnd: Int32
    private let isFired = Protected(false)

    init() throws(SystemCalls.Failure) {
        (descriptor, writeEnd) = try SystemCalls.makePipe()
    }

    func fire() {
        isFired.withLock { isFired in
            if !isFired { SystemCalls.signal(writeEnd) }
            isFired = true
        }
    }

    deinit {
        SystemCalls.closeDescriptor(descriptor)
        SystemCalls.closeDescriptor(writeEnd)
    }
}
