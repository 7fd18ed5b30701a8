import Foundation

/// Reads frames from bytes in pieces of any size.
struct FrameReader {
    /// A part of a frame, in the order of the bytes.
    enum Part {
        case header(FrameHeader)
        case payload(UnsafeRawBufferPointer)
        case end
    }

    private let allowsCompression: Bool
    private var header: [UInt8] = []
    /// The payload bytes of the current frame that are missing. Nil between frames.
    private var missing: UInt64?

    init(allowsCompression: Bool) {
        self.allowsCompression = allowsCompression
        header.reserveCapacity(10)
    }

    /// Takes the next part from the front of the bytes, or returns nil when it needs more of them.
    mutating func next(_ bytes: inout UnsafeRawBufferPointer) throws(WebSocketViolation) -> Part? {
        if let missing {
            guard missing > 0 else {
                self.missing = nil
                return .end
            }
            guard !bytes.isEmpty else { return nil }
            let count = Int(min(missing, UInt64(bytes.count)))
            self.missing = missing - UInt64(count)
            defer { bytes = UnsafeRawBufferPointer(rebasing: bytes[count...]) }
            return .payload(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
        while let byte = bytes.first {
            bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
            header.append(byte)
            guard header.count >= 2, header.count == FrameHeader.size(header[1]) else { continue }
            let whole = try FrameHeader(header[...], allowsCompression: allowsCompression)
            header.removeAll(keepingCapacity: true)
            missing = whole.length
            return .header(whole)
        }
        return nil
    }
}
