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
        let reader = LazyPartReader(limit: limit) { try await call.stream() }
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
        let reader = try PartReader(self, limit: limit)
        return ResponseSequence { try await reader.next() }
    }
}

/// Reads parts from the chunks of a body.
private actor PartReader {
    /// The maximum number of bytes to read after the last boundary, so that the connection can be reused.
    private static let epilogueLimit = 64 << 10

    private let head: NetworkResponse
    private var bytes: ResponseBytes?
    private var scanner: MultipartScanner
    private var epilogue = 0
    private var isStarted = false
    private var endsCall = false
    private var isAtEnd = false

    init(_ response: NetworkResponse, limit: Int) throws(NetworkError) {
        do throws(NetworkError) {
            let type = response.headers.contentType ?? ""
            scanner = MultipartScanner(boundary: try MultipartBoundary.parse(contentType: type), limit: limit)
        } catch {
            throw error.withResponse(response)
        }
        bytes = response.bytes
        var head = response
        head.stream = nil  // only `bytes` may hold the exchange
        self.head = head
    }

    func next() async throws -> ResponsePart? {
        guard let bytes else { return nil }
        do {
            if !isStarted {
                await bytes.letReaderEndCall()
                // Only the body of a whole call has a request: an interceptor that reads parts does not end its call.
                endsCall = await bytes.request != nil
            }
            isStarted = true
            while true {
                if let part = try scanner.next() { return part }
                guard !isAtEnd, epilogue <= Self.epilogueLimit else {
                    if endsCall { head.endCall() }
                    self.bytes = nil
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
            self.bytes = nil
            scanner.stop()
            let error = (error as? NetworkError)?.withResponse(head) ?? error
            if endsCall { head.endCall(with: error) }
            throw error
        }
    }
}

/// Reads the parts of a response. The first read sends its request.
private actor LazyPartReader {
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
            let response = try await open()
            do {
                reader = try PartReader(response, limit: limit)
            } catch {
                response.endCall(with: error)
                throw error
            }
        }
        return try await reader?.next()
    }
}

extension NetworkError {
    /// Returns the error with the response and its request, unless it already has a response.
    fileprivate func withResponse(_ response: NetworkResponse) -> NetworkError {
        statusCode == nil ? with(response) : self
    }
}
