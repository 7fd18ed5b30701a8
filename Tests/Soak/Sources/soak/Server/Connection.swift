import Glibc
import Synchronization

/// One connection, which serves its requests in sequence.
struct Connection {
    let descriptor: Int32
    private var input = [UInt8](repeating: 0, count: 64 << 10)
    private var start = 0
    private var end = 0

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    mutating func serve() {
        Server.connections.add(1, ordering: .relaxed)
        while let request = readRequest(), answer(request) {}
        Server.connections.subtract(1, ordering: .relaxed)
        close(descriptor)
    }

    // MARK: Reading

    private mutating func readRequest() -> Request? {
        while true {
            if let length = endOfHead() {
                let request = Request(input[start..<start + length])
                start += length
                return request
            }
            guard end - start < input.count, fill() else { return nil }
        }
    }

    private func endOfHead() -> Int? {
        guard end - start >= 4 else { return nil }
        for index in start + 3..<end where input[index] == 0x0A {
            if input[index - 1] == 0x0D, input[index - 2] == 0x0A, input[index - 3] == 0x0D { return index + 1 - start }
        }
        return nil
    }

    /// Reads more bytes. Returns false at the end of the connection.
    private mutating func fill() -> Bool {
        if start > 0 {
            input.replaceSubrange(0..<end - start, with: Array(input[start..<end]))
            end -= start
            start = 0
        }
        let (end, descriptor) = (end, descriptor)
        let count = input.withUnsafeMutableBytes { input in
            recv(descriptor, input.baseAddress.map { $0 + end }, input.count - end, 0)
        }
        guard count > 0 else { return false }
        self.end += count
        return true
    }

    /// Reads a request's body. Returns its length and the sum of its bytes, or nil if it is incomplete.
    mutating func readBody(_ request: Request, pause: Int32 = 0) -> (count: Int, sum: Int)? {
        guard request.isChunked else { return readBytes(request.length, pause: pause) }
        var whole = (count: 0, sum: 0)
        while true {
            guard let line = readLine(), let length = Int(line, radix: 16) else { return nil }
            guard let chunk = readBytes(length, pause: pause), readLine() != nil else { return nil }
            if length == 0 { return whole }
            whole.count += chunk.count
            whole.sum += chunk.sum
        }
    }

    private mutating func readBytes(_ length: Int, pause: Int32) -> (count: Int, sum: Int)? {
        var sum = 0
        var left = length
        while left > 0 {
            if start == end {
                if pause > 0, !Socket.wait(descriptor, milliseconds: pause) { return nil }
                guard fill() else { return nil }
            }
            let count = min(left, end - start)
            sum += input[start..<start + count].reduce(0) { $0 + Int($1) }
            start += count
            left -= count
        }
        return (length, sum)
    }

    private mutating func readLine() -> String? {
        while true {
            if let feed = input[start..<end].firstIndex(of: 0x0A) {
                defer { start = feed + 1 }
                return String(decoding: input[start..<max(start, feed - 1)], as: UTF8.self)
            }
            guard end - start < input.count, fill() else { return nil }
        }
    }
}

/// The parts of a request's head that this server uses.
struct Request {
    /// The path's segments, such as `large` and `1000`.
    let words: [Substring]
    var length = 0
    var isChunked = false

    init(_ head: ArraySlice<UInt8>) {
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        let target = lines.first?.split(separator: " ").dropFirst().first ?? ""
        words = target.split(separator: "/")
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            switch line[..<colon].lowercased() {
            case "content-length": length = Int(line[colon...].dropFirst().drop { $0 == " " }) ?? 0
            case "transfer-encoding": isChunked = true
            default: break
            }
        }
    }

    func number(_ index: Int) -> Int { words.count > index ? Int(words[index]) ?? 0 : 0 }
}
