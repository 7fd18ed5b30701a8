import Foundation
import Switchboard

/// The server's side of TLS on one connection. It touches no socket: it is given what the client sent, and hands out
/// what is to be sent.
///
/// So nothing in OpenSSL ever waits, and no write of its own raises SIGPIPE.
final class TLSConversation {
    /// Why it is over. An alert that says so may be among the ``output()``.
    enum Failure: Error {
        /// The client has sent an alert: it refuses the certificate, for instance.
        case refusedByClient
        /// The client has no version or cipher in common, shows no certificate, or breaks the rules.
        case refusedHere
    }

    /// What `SSL_get_error` says.
    private enum Outcome {
        static let wantsRead: Int32 = 2
        static let wantsWrite: Int32 = 3
        static let isEnded: Int32 = 6
    }

    private let context: TLSContext
    private let pointer: OpenSSL.Object
    private let input: OpenSSL.Object
    private let sent: OpenSSL.Object
    /// Whether the client has said that it sends no more.
    private(set) var isEnded = false
    private var isBroken = false

    private var functions: OpenSSL.ConnectionFunctions { context.openSSL.connections }

    init(_ context: TLSContext) throws(NetworkError) {
        let openSSL = context.openSSL
        guard let pointer = openSSL.connections.new(context.pointer) else { throw openSSL.failure("begin TLS") }
        self.context = context
        self.pointer = pointer
        do throws(NetworkError) {
            input = try openSSL.makeBuffer()
            do throws(NetworkError) {
                sent = try openSSL.makeBuffer()
            } catch {
                openSSL.memory.freeBuffer(input)
                throw error
            }
        } catch {
            openSSL.connections.free(pointer)
            throw error
        }
        openSSL.connections.setBuffers(pointer, input, sent)
        openSSL.connections.beServer(pointer)
    }

    deinit {
        functions.free(pointer)  // and with it the buffers
    }

    /// Whether the handshake is over.
    var isEstablished: Bool { functions.isEstablished(pointer) == 1 }

    /// Takes bytes from the client, and appends what they say to `text`: all of it, so that nothing is left behind.
    func take(_ bytes: UnsafeRawBufferPointer, into text: inout [UInt8]) throws(Failure) {
        context.openSSL.write(bytes, to: input)
        while let some = try read() { text.append(contentsOf: some) }
    }

    /// At most a record; nil when there is no whole one.
    private func read() throws(Failure) -> [UInt8]? {
        context.openSSL.memory.clearErrors()
        var count: Int32 = 0
        let record = [UInt8](unsafeUninitializedCapacity: 1 << 14) { buffer, length in
            count = functions.read(pointer, buffer.baseAddress, Int32(buffer.count))
            length = max(0, Int(count))
        }
        if count > 0 { return record }
        switch functions.outcome(pointer, count) {
        case Outcome.wantsRead, Outcome.wantsWrite: return nil
        case Outcome.isEnded:
            isEnded = true
            return nil
        default: throw failure()
        }
    }

    private func failure() -> Failure {
        isBroken = true
        // The reason for an alert that came is 1000 and its number, in the lowest bits.
        return context.openSSL.takeError() & 0xFFF > 1_000 ? .refusedByClient : .refusedHere
    }

    /// Puts bytes for the client into the ``output()``.
    func put(_ bytes: Data) throws(Failure) {
        guard !bytes.isEmpty else { return }
        context.openSSL.memory.clearErrors()
        let count = bytes.withUnsafeBytes { functions.write(pointer, $0.baseAddress, Int32($0.count)) }
        guard count == bytes.count else { throw failure() }
    }

    /// Takes what is to be sent.
    func output() -> Data {
        context.openSSL.readAll(from: sent)
    }

    /// Says that nothing more comes (`close_notify`), so that the end is no accident to the client.
    func putEnd() {
        guard isEstablished, !isBroken else { return }
        context.openSSL.memory.clearErrors()
        _ = functions.shutDown(pointer)
    }
}
