import Foundation

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
            throw NetworkError(.encodingFailed, reason: "a part contains the given boundary")
        }
        tail = Data(tail.suffix(delimiter.count - 1))
    }
}
