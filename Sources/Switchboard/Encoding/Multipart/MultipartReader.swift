import Foundation

actor MultipartReader {
    private let form: MultipartBody
    private var rest: ArraySlice<MultipartBody.Part>
    private var content: HTTPBodyStream?
    private var contentGuard: BoundaryGuard
    private var isClosed = false

    init(_ form: MultipartBody) {
        self.form = form
        rest = form.parts[...]
        contentGuard = form.boundaryGuard
    }

    /// Returns the next bytes, or nil at the end. Concurrent calls are not allowed.
    func next() async throws -> Data? {
        while true {
            if let chunk = try await content?.next() {
                try contentGuard.check(chunk)
                return chunk
            }
            if content != nil {
                content = nil
                return Data("\r\n".utf8)
            }
            guard let part = rest.popFirst() else {
                defer { isClosed = true }
                return isClosed ? nil : form.closing
            }
            contentGuard = form.boundaryGuard
            content = part.content.isEmpty ? HTTPBodyStream { nil } : try part.content.makeStream()
            return try form.opening(of: part)
        }
    }
}

/// Searches chunked content for a boundary.
struct BoundaryGuard: Sendable {
    private let delimiter: Data?
    /// The last bytes of the content so far, one fewer than the delimiter has.
    private var tail = Data()

    /// Creates a guard. Without a boundary, all content passes.
    init(_ boundary: String?) {
        delimiter = boundary.map { Data("--\($0)".utf8) }
    }

    /// Throws if the content so far contains the boundary.
    mutating func check(_ chunk: Data) throws(NetworkError) {
        guard let delimiter else { return }
        tail += chunk
        guard tail.range(of: delimiter) == nil else {
            throw NetworkError(.encodingFailed, reason: "a part contains the given boundary")
        }
        tail = Data(tail.suffix(delimiter.count - 1))
    }
}
