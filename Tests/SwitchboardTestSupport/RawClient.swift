import Foundation

#if canImport(Darwin)
import Darwin

private let streamSocket = SOCK_STREAM
private let sendFlags: Int32 = 0
#elseif canImport(Glibc)
import Glibc

private let streamSocket = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
private let sendFlags = Int32(MSG_NOSIGNAL)
#elseif canImport(Musl)
import Musl

private let streamSocket = SOCK_STREAM | SOCK_CLOEXEC
private let sendFlags = MSG_NOSIGNAL
#endif

/// A raw TCP connection to a server. It sends and reads bytes without HTTP.
package final class RawClient {
    package enum End: Equatable {
        case closed, reset, silent
    }

    package struct Refused: Error {}

    private let descriptor: Int32
    private var isOpen = true

    package init(port: Int, timeout seconds: Int = 60) throws {
        descriptor = socket(AF_INET, streamSocket, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        var time = timeval(tv_sec: numericCast(seconds), tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        #if canImport(Darwin)
        var isOn: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #endif
        let isConnected = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw Refused() }
    }

    deinit {
        leave()
    }

    @discardableResult
    package func send(_ text: String) -> RawClient {
        send(Data(text.utf8))
    }

    @discardableResult
    package func send(_ data: Data) -> RawClient {
        var rest = Array(data)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemSend(descriptor, $0.baseAddress, $0.count, sendFlags) }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        return self
    }

    package func endSending() {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    package func leave() {
        guard isOpen else { return }
        isOpen = false
        _ = close(descriptor)
    }

    /// Reads until the text has come, and returns everything up to its end.
    package func read(through end: String) -> String {
        var bytes: [UInt8] = []
        while !String(decoding: bytes, as: UTF8.self).hasSuffix(end), let byte = readSome(1).bytes.first {
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads until the server ends the connection, or stays silent for the timeout of the client.
    package func readAll() -> (text: String, end: End) {
        let (bytes, end) = readAllBytes()
        return (String(decoding: bytes, as: UTF8.self), end)
    }

    package func readAllBytes() -> (bytes: [UInt8], end: End) {
        var bytes: [UInt8] = []
        while true {
            let (some, end) = readSome(65_536)
            bytes += some
            if let end { return (bytes, end) }
        }
    }

    private func readSome(_ limit: Int) -> (bytes: [UInt8], end: End?) {
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = recv(descriptor, &buffer, limit, 0)
        if count > 0 { return (Array(buffer.prefix(count)), nil) }
        if count == 0 { return ([], .closed) }
        return ([], errno == ECONNRESET ? .reset : .silent)
    }
}

extension RawClient {
    /// Returns whether the port that an operation returns is closed afterwards. Runs it twice if not, because another
    /// server may get the port.
    package static func isRefused(afterwards operation: () async throws -> Int) async throws -> Bool {
        for _ in 0..<2 {
            let port = try await operation()
            do { _ = try RawClient(port: port) } catch { return true }
        }
        return false
    }
}

private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(descriptor, bytes, count, flags)
}
