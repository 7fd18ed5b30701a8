import Foundation
import Switchboard

/// The server's side of TLS on one connection. It uses no socket: it receives the client's bytes and returns the bytes
/// to send.
///
/// OpenSSL therefore never blocks, and none of its writes raises SIGPIPE.
final class TLSConnection {
    /// The reason for the end. ``output()`` may contain an alert that reports it.
    enum Failure: Error {
        /// The client sent an alert. It refuses the certificate, for instance.
        case refusedByClient
        /// The client shares no version or cipher, or breaks the protocol.
        case refusedByServer
    }

    private enum Outcome {
        static let wantsRead: Int32 = 2
        static let wantsWrite: Int32 = 3
        static let isEnded: Int32 = 6
    }

    private let tls: ServerTLS
    private let pointer: OpenSSL.Object
    private let input: OpenSSL.Object
    private let sent: OpenSSL.Object
    /// Whether the client announced that it sends no more.
    private(set) var isEnded = false
    private var isBroken = false

    private var openSSL: OpenSSL { tls.openSSL }

    init(_ tls: ServerTLS) throws(NetworkError) {
        let openSSL = tls.openSSL
        guard let pointer = openSSL.newConnection(tls.context) else { throw openSSL.failure("begin TLS") }
        let (input, sent) = (openSSL.newBuffer(openSSL.inMemory()), openSSL.newBuffer(openSSL.inMemory()))
        openSSL.setBuffers(pointer, input, sent)  // frees the buffers with the connection
        guard let input, let sent else {
            openSSL.freeConnection(pointer)
            throw openSSL.failure("begin TLS")
        }
        (self.tls, self.pointer, self.input, self.sent) = (tls, pointer, input, sent)
        openSSL.setServer(pointer)
    }

    deinit {
        openSSL.freeConnection(pointer)
    }

    var isEstablished: Bool { openSSL.isEstablished(pointer) == 1 }

    /// Decrypts bytes from the client and appends everything that can be decrypted to `text`.
    func take(_ bytes: UnsafeRawBufferPointer, into text: inout [UInt8]) throws(Failure) {
        // A buffer in memory accepts all bytes unless memory runs out.
        _ = openSSL.writeBuffer(input, bytes.baseAddress, Int32(bytes.count))
        while let some = try read() { text.append(contentsOf: some) }
    }

    /// Returns at most one record, or nil when no complete record is available.
    private func read() throws(Failure) -> [UInt8]? {
        openSSL.clearErrors()
        var count: Int32 = 0
        let record = [UInt8](unsafeUninitializedCapacity: 1 << 14) { buffer, length in
            count = openSSL.read(pointer, buffer.baseAddress, Int32(buffer.count))
            length = max(0, Int(count))
        }
        if count > 0 { return record }
        switch openSSL.outcome(pointer, count) {
        case Outcome.wantsRead, Outcome.wantsWrite: return nil
        case Outcome.isEnded:
            isEnded = true
            return nil
        default: throw failure()
        }
    }

    private func failure() -> Failure {
        isBroken = true
        // For a received alert, the lowest bits hold its number plus 1000.
        return openSSL.takeError() & 0xFFF > 1_000 ? .refusedByClient : .refusedByServer
    }

    /// Encrypts bytes for the client into the ``output()``.
    func put(_ bytes: Data) throws(Failure) {
        guard !bytes.isEmpty else { return }
        openSSL.clearErrors()
        let count = bytes.withUnsafeBytes { openSSL.write(pointer, $0.baseAddress, Int32($0.count)) }
        guard count == bytes.count else { throw failure() }
    }

    func output() -> Data {
        openSSL.readAll(from: sent)
    }

    /// Announces the end of the data (`close_notify`), so that the client does not take it for a lost connection.
    func putEnd() {
        guard isEstablished, !isBroken else { return }
        openSSL.clearErrors()
        _ = openSSL.shutDown(pointer)
    }
}
