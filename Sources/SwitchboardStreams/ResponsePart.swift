import Foundation
import Switchboard

/// One part of a `multipart` response ([RFC 2046 §5.1](https://www.rfc-editor.org/rfc/rfc2046#section-5.1)).
public struct ResponsePart: Sendable, Hashable {
    /// The part's header fields, in order. No field is required.
    public var headers: HTTPHeaders
    /// The bytes between the blank line after the fields and the next boundary, as they were sent. A
    /// `Content-Transfer-Encoding` is not decoded, and a multipart within it is not parsed.
    public var body: Data

    /// Creates a part.
    public init(headers: HTTPHeaders = [:], body: Data = Data()) {
        self.headers = headers
        self.body = body
    }

    /// The range of bytes in the `Content-Range`, or nil without a valid one. The length of ``body`` may differ from
    /// the length of the range.
    public var contentRange: ContentRange? { headers["Content-Range"].flatMap { ContentRange($0) } }
}

extension NetworkRouter {
    /// Returns the parts of a `multipart` response as they arrive, for instance several ranges of a file. See
    /// `NetworkResponse.parts(limit:)`.
    ///
    /// ```swift
    /// // The endpoint's headers: ["Range": "bytes=0-99,1000-1099"]
    /// for try await part in router.parts(for: .film) { show(part.body) }
    /// ```
    ///
    /// The request accepts `multipart/*`, unless the endpoint sets `Accept`. Reading the first part sends it, once. The
    /// reader sets the pace. A reader that stops early, or whose task is canceled, closes the exchange. Reading throws
    /// the errors of `streamedResponse(for:options:isolation:)` and `NetworkResponse.parts(limit:)`.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint.
    ///   - options: Options for this call. They override those of the endpoint. Default none.
    ///   - limit: The maximum number of bytes of a part's body. A larger one throws
    ///     `NetworkError.Code.responseTooLarge`. Default 64 MiB.
    /// - Returns: The parts, to be read once.
    public func parts(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions(), limit: Int = 64 << 20
    ) -> ResponseSequence<ResponsePart> {
        let call = prepare(endPoint, options, accept: "multipart/*")
        let reader = PartReader {
            let response = try await call.stream()
            do {
                return (response, try response.partScanner(limit: limit))
            } catch {
                response.endCall(with: error)
                throw error
            }
        }
        return ResponseSequence { try await reader.next() }
    }
}

extension NetworkResponse {
    /// Returns the parts of a `multipart` body as they arrive, for instance `multipart/byteranges` ([RFC 9110
    /// §14.6](https://www.rfc-editor.org/rfc/rfc9110#section-14.6)) or `multipart/mixed` ([RFC 2046
    /// §5.1](https://www.rfc-editor.org/rfc/rfc2046#section-5.1)).
    ///
    /// A part is complete when the boundary after it has arrived. After the complete parts, reading throws
    /// `NetworkError.Code.truncatedBody` when the body ends before its last boundary,
    /// `NetworkError.Code.responseTooLarge` for more than 256 KiB before the first boundary,
    /// `NetworkError.Code.headersTooLarge` for a part with more than 256 KiB of fields, and
    /// `NetworkError.Code.invalidResponse` for an invalid field. A multipart within a part is not parsed.
    ///
    /// - Parameter limit: The maximum number of bytes of a part's body. A larger one throws
    ///   `NetworkError.Code.responseTooLarge`. Default 64 MiB.
    /// - Returns: The parts, to be read once.
    /// - Throws: `NetworkError.Code.unexpectedContentType` for another type: a server may answer a request for several
    ///   ranges with one range or with the whole. `NetworkError.Code.invalidResponse` for a type without a boundary of
    ///   1 to 70 characters.
    public func parts(limit: Int = 64 << 20) throws(NetworkError) -> ResponseSequence<ResponsePart> {
        let scanner = try partScanner(limit: limit)
        let reader = PartReader { (self, scanner) }
        return ResponseSequence { try await reader.next() }
    }

    fileprivate func partScanner(limit: Int) throws(NetworkError) -> MultipartScanner {
        do throws(NetworkError) {
            let boundary = try MultipartBoundary.parse(contentType: headers.contentType ?? "")
            return MultipartScanner(boundary: boundary, limit: limit)
        } catch {
            throw error.withResponse(self)
        }
    }
}

/// Reads the parts of a response, which the first read opens. ``ResponseSequence`` reads them one by one.
private actor PartReader {
    private var open: (@Sendable () async throws -> (NetworkResponse, MultipartScanner))?
    /// Nil after the end and after an error, which releases the exchange.
    private var body: PartBody?

    init(_ open: @escaping @Sendable () async throws -> (NetworkResponse, MultipartScanner)) { self.open = open }

    func next() async throws -> ResponsePart? {
        if let open = open.take() {
            let (response, scanner) = try await open()
            body = await PartBody(response, scanner)
        }
        guard var body = body.take(), let part = try await body.next() else { return nil }
        self.body = body
        return part
    }
}

/// The body of a multipart response.
private struct PartBody {
    /// The maximum number of bytes to read after the last boundary, so that the connection can be reused.
    private static let epilogueLimit = 64 << 10

    private let head: NetworkResponse
    private let bytes: ResponseBytes
    private let endsCall: Bool
    private var scanner: MultipartScanner
    private var epilogue = 0
    private var isAtEnd = false

    init(_ response: NetworkResponse, _ scanner: MultipartScanner) async {
        self.scanner = scanner
        bytes = response.bytes
        await bytes.letReaderEndCall()
        // Only the body of a whole call has a request: an interceptor that reads parts does not end its call.
        endsCall = await bytes.request != nil
        var head = response
        head.stream = nil  // only `bytes` may hold the exchange
        self.head = head
    }

    mutating func next() async throws -> ResponsePart? {
        do {
            while true {
                if let part = try scanner.next() { return part }
                guard !isAtEnd, epilogue <= Self.epilogueLimit else {
                    if endsCall { head.endCall() }
                    return nil
                }
                if let chunk = try await bytes.next() {
                    if scanner.isOver { epilogue += chunk.count }
                    scanner.push(chunk)
                } else {
                    isAtEnd = true
                    scanner.finish()
                }
            }
        } catch {
            let error = (error as? NetworkError)?.withResponse(head) ?? error
            if endsCall { head.endCall(with: error) }
            throw error
        }
    }
}

extension NetworkError {
    /// Returns the error with the response and its request, unless it already has a response.
    fileprivate func withResponse(_ response: NetworkResponse) -> NetworkError {
        statusCode == nil ? with(response) : self
    }
}
