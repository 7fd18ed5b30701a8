import Foundation
import SwitchboardTestSupport

/// A stream without an end.
final class EndlessStream: InputStream {
    let reads = Deliveries<Int>()
    let closings = Deliveries<Bool>()
    private var status = Status.notOpen

    init() {
        super.init(data: Data())
    }

    override var streamStatus: Status { status }
    override var hasBytesAvailable: Bool { true }

    override func open() { status = .open }

    override func close() {
        status = .closed
        closings.add(true)
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        reads.add(length)
        buffer.initialize(repeating: 0, count: length)
        return length
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool { false }
}
