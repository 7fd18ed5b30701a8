import Foundation
import Switchboard

/// A ``MockResponse`` as the bytes that answer one request, and what becomes of the connection behind them.
struct WireResponse {
    enum Ending: Equatable {
        case keepAlive, close, reset, stall
    }

    let ending: Ending
    /// Everything before the body; all there is of a raw answer.
    let head: Data
    /// As much of the body as is sent.
    private let body: Data
    private let chunkSizes: [Int]?
    private let isWhole: Bool
    /// Whether there is a body, if an empty one.
    private let hasBody: Bool

    /// `request` is nil for one that could not be read.
    init(_ response: MockResponse, to request: RecordedRequest?) {
        let response = response.refusingInvalidHeaders()
        switch response.course {
        case .raw(let bytes): self.init(ending: .close, head: bytes)
        case .stall: self.init(ending: .stall)
        case .reset: self.init(ending: .reset)
        case .close, .failure: self.init(ending: .close)
        case .complete: self.init(response, to: request, sending: response.body.count, ending: nil)
        case .truncated(let count): self.init(response, to: request, sending: count, ending: .close)
        case .stalled(let count): self.init(response, to: request, sending: count, ending: .stall)
        }
    }

    private init(ending: Ending, head: Data = Data()) {
        self.ending = ending
        self.head = head
        body = Data()
        chunkSizes = nil
        isWhole = true
        hasBody = false
    }

    /// An answer with a head. `fault` is nil for a whole one.
    private init(_ response: MockResponse, to request: RecordedRequest?, sending count: Int, ending fault: Ending?) {
        isWhole = fault == nil
        chunkSizes = request?.httpVersion == "HTTP/1.0" ? nil : response.chunkSizes
        hasBody = response.allowsBody(to: request?.method ?? .get)
        body = hasBody ? response.body.prefix(count) : Data()

        var headers = response.headers
        if !headers.contains("Content-Length"), !headers.contains("Transfer-Encoding"), !response.isBodiless {
            if chunkSizes != nil {
                headers.add("Transfer-Encoding", "chunked")
            } else if response.chunkSizes == nil {
                let missing = isWhole || count < response.body.count ? 0 : 1
                headers.add("Content-Length", String(response.body.count + missing))
            }
        }
        let isKept = request?.keepsConnection == true && !headers.hasToken("close", in: "Connection")
        if isWhole, !isKept, !headers.contains("Connection") { headers.add("Connection", "close") }
        ending = fault ?? (isKept ? .keepAlive : .close)
        head = Self.head(response.status, headers)
    }

    private static func head(_ status: Int, _ headers: HTTPHeaders) -> Data {
        var text = "HTTP/1.1 \(status) \(ReasonPhrase.phrase(for: status))\r\n"
        for field in headers { text += "\(field.name): \(field.value)\r\n" }
        return Data((text + "\r\n").utf8)
    }

    /// Hands out the bytes in the writes in which they should leave.
    func forEachPiece(_ send: (Data) throws -> Void) rethrows {
        guard let chunkSizes else {
            if body.count <= 1 << 14 { return try send(head + body) }
            try send(head)
            return try send(body)
        }
        try send(head)
        guard hasBody else { return }
        var rest = body
        var index = 0
        while !rest.isEmpty {
            let size = chunkSizes.isEmpty ? rest.count : chunkSizes[min(index, chunkSizes.count - 1)]
            let chunk = rest.prefix(size)
            try send(Data("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Data("\r\n".utf8))
            rest = rest.dropFirst(size)
            index += 1
        }
        if isWhole { try send(Data("0\r\n\r\n".utf8)) }
    }
}

extension RecordedRequest {
    /// Whether the client takes another answer on this connection.
    fileprivate var keepsConnection: Bool {
        httpVersion == "HTTP/1.1" && !headers.hasToken("close", in: "Connection")
    }
}
