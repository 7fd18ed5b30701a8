import Foundation

/// Reads a form part by part.
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
