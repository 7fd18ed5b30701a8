import Foundation
import Switchboard

extension NetworkResponse {
    /// The parts of a `multipart` body, `multipart/byteranges` ([RFC 9110
    /// §14.6](https://www.rfc-editor.org/rfc/rfc9110#section-14.6)) and `multipart/mixed` ([RFC 2046
    /// §5.1](https://www.rfc-editor.org/rfc/rfc2046#section-5.1)) for instance, as they arrive; read once.
    ///
    /// A part is there when the boundary behind it has come. Reading throws `NetworkError.Code.truncatedBody` when the
    /// body ends before its last boundary, `NetworkError.Code.headersTooLarge` for a part with more than 256 KiB of
    /// fields, and `NetworkError.Code.invalidResponse` for a field that is none; all of them behind the parts that
    /// came. A multipart within a part stays bytes.
    ///
    /// - Parameter limit: The most bytes of a part's body. More is `NetworkError.Code.responseTooLarge`. Default 64 MiB.
    /// - Returns: The parts.
    /// - Throws: `NetworkError.Code.unexpectedContentType` for another type: a server may answer several ranges with
    ///   one, or with the whole. `NetworkError.Code.invalidResponse` for a type without a boundary of 1 to 70
    ///   characters.
    public func parts(limit: Int = 64 << 20) throws(NetworkError) -> ResponseSequence<ResponsePart> {
        let reader = try PartReader(self, limit: limit)
        return ResponseSequence { try await reader.next() }
    }
}

extension ResponseSequence<ResponsePart> {
    /// The parts of a response to a request that is sent with the first reading.
    init(limit: Int, opening open: @escaping @Sendable () async throws -> NetworkResponse) {
        let opener = PartOpener(limit: limit, open)
        self.init { try await opener.next() }
    }
}

/// Makes parts of the chunks of a body.
private actor PartReader {
    /// How much is read behind the last boundary, to be able to use the connection again.
    private static let epilogueLimit = 64 << 10

    private let head: NetworkResponse
    private var bytes: ResponseBytes?
    private var scanner: MultipartScanner
    private var epilogue = 0

    init(_ response: NetworkResponse, limit: Int) throws(NetworkError) {
        do throws(NetworkError) {
            let type = response.headers["Content-Type"] ?? ""
            scanner = MultipartScanner(boundary: try MultipartBoundary.parse(contentType: type), limit: limit)
        } catch {
            throw error.noting(response)
        }
        bytes = response.bytes
        var head = response
        head.stream = nil  // so that nobody but `bytes` holds the exchange
        self.head = head
    }

    func next() async throws -> ResponsePart? {
        do {
            while true {
                if let part = try scanner.next() { return part }
                guard let bytes else { return nil }
                guard let chunk = try await bytes.next() else {
                    self.bytes = nil
                    scanner.finish()
                    continue
                }
                if scanner.isOver { epilogue += chunk.count }
                if epilogue > Self.epilogueLimit { self.bytes = nil }
                scanner.push(chunk)
            }
        } catch {
            bytes = nil
            scanner.stop()
            throw (error as? NetworkError)?.noting(head) ?? error
        }
    }
}

/// Sends a request with the first reading.
private actor PartOpener {
    private let limit: Int
    private var open: (@Sendable () async throws -> NetworkResponse)?
    private var reader: PartReader?

    init(limit: Int, _ open: @escaping @Sendable () async throws -> NetworkResponse) {
        self.limit = limit
        self.open = open
    }

    func next() async throws -> ResponsePart? {
        if let open {
            self.open = nil
            reader = try PartReader(await open(), limit: limit)
        }
        return try await reader?.next()
    }
}

extension NetworkError {
    /// The error with response and request noted, where none is noted yet.
    fileprivate func noting(_ response: NetworkResponse) -> NetworkError {
        let error = status == nil ? with(response) : self
        return response.request.map { error.attributed(to: $0) } ?? error
    }
}
