import Glibc
import Synchronization

extension Connection {
    /// Answers a request. Returns false if the connection must close.
    mutating func answer(_ request: Request) -> Bool {
        switch request.words.first {
        case "small": return send("answer \(request.number(1))\n")
        case "slow": return wait(request.number(1)) && send("answer \(request.number(2))\n")
        case "drip": return drip(count: request.number(1), milliseconds: request.number(2))
        case "large": return large(request.number(1))
        case "take":
            guard let body = readBody(request, pause: Int32(request.number(1))) else { return false }
            return send("\(body.count) \(body.sum)")
        case "refuse":
            _ = send("no", status: "413 Content Too Large", more: "Connection: close\r\n")
            return false
        case "stall": return wait(-1)
        case "stall-inside": return half(request.number(1)) && wait(-1)
        case "cut":
            _ = half(request.number(1))
            return false
        case "drop": return false
        case "written": return send("\(Server.written.load(ordering: .relaxed))")
        case "connections": return send("\(Server.connections.load(ordering: .relaxed))")
        default: return send("no such path", status: "404 Not Found")
        }
    }

    private func wait(_ milliseconds: Int) -> Bool { Socket.wait(descriptor, milliseconds: Int32(milliseconds)) }

    private func send(_ body: String, status: String = "200 OK", more: String = "") -> Bool {
        send(text: "HTTP/1.1 \(status)\r\n\(more)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    private func send(text: String) -> Bool {
        var text = text
        return text.withUTF8 { Socket.send(descriptor, UnsafeRawBufferPointer($0)) }
    }

    /// Sends chunks of 1000 bytes with a pause after each.
    private func drip(count: Int, milliseconds: Int) -> Bool {
        guard send(text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n") else { return false }
        for index in 0..<count {
            let isSent = send(text: "3e8\r\n") && send(from: index * 1000, count: 1000) && send(text: "\r\n")
            guard isSent, wait(milliseconds) else { return false }
        }
        return send(text: "0\r\n\r\n")
    }

    private func large(_ length: Int) -> Bool {
        Server.written.store(0, ordering: .relaxed)
        return send(text: "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n") && send(from: 0, count: length)
    }

    private func half(_ length: Int) -> Bool {
        send(text: "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n") && send(from: 0, count: length / 2)
    }

    private func send(from position: Int, count: Int) -> Bool {
        Pattern.bytes.withUnsafeBytes { bytes in
            var (position, left) = (position, count)
            while left > 0 {
                let run = bytes[Pattern.run(at: position)].prefix(min(left, 128 << 10))
                let sent = Socket.sendSome(descriptor, UnsafeRawBufferPointer(rebasing: run))
                guard sent > 0 else { return false }
                Server.written.add(sent, ordering: .relaxed)
                position += sent
                left -= sent
            }
            return true
        }
    }
}
