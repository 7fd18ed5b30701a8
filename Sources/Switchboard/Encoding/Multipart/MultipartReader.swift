import Foundation

/// Reads a form part by part.
actor MultipartReader {
    private let form: MultipartBody
    private var rest: ArraySlice<MultipartBody.Part>
    private var content: HTTPBodyStream?
    private var guardian: BoundaryGuard
    private var isClosed = false

    init(_ form: MultipartBody) {
        self.form = form
        rest = form.parts[...]
        guardian = form.boundaryGuard
    }

    /// The next bytes, nil at the end. Not to be called twice at once.
    func next() async throws -> Data? {
        while true {
            if let chunk = try await content?.next() {
                try guardian.pass(chunk)
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
            guardian = form.boundaryGuard
            content = part.content.isEmpty ? HTTPBodyStream { nil } : try part.content.makeStream()
            return try form.opening(of: part)
        }
    }
}

/// Looks for a boundary in content that comes in chunks.
struct BoundaryGuard: Sendable {
    private let delimiter: Data?
    /// The end of what passed, one byte shorter than what is looked for.
    private var tail = Data()

    /// Looks for nothing without a boundary.
    init(_ boundary: String?) {
        delimiter = boundary.map { Data("--\($0)".utf8) }
    }

    /// - Throws: ``NetworkError/Code/encodingFailed`` when the boundary is in it.
    mutating func pass(_ chunk: Data) throws(NetworkError) {
        guard let delimiter else { return }
        tail += chunk
        guard tail.range(of: delimiter) == nil else {
            throw NetworkError(.encodingFailed, reason: "the content of a part holds the boundary that was given")
        }
        tail = Data(tail.suffix(delimiter.count - 1))
    }
}
