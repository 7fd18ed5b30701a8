import Foundation

/// Searches chunked content for a boundary.
struct BoundaryGuard: Sendable {
    private let delimiter: Data?
    /// The last bytes of the content so far, one fewer than the delimiter has.
    private var tail = Data()

    /// Creates a guard. Without a boundary, all content passes.
    init(_ boundary: String?) {
        delimiter = boundary.map { Data("--\($0)".utf8) }
    }

    /// Checks the next chunk.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed`` when the content contains the boundary.
    mutating func check(_ chunk: Data) throws(NetworkError) {
        guard let delimiter else { return }
        tail += chunk
        guard tail.range(of: delimiter) == nil else {
            throw NetworkError(.encodingFailed, reason: "a part contains the given boundary")
        }
        tail = Data(tail.suffix(delimiter.count - 1))
    }
}
