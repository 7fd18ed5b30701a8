import Foundation
import SwitchboardText

/// A form with files, `multipart/form-data` ([RFC 7578](https://www.rfc-editor.org/rfc/rfc7578)). Its parts are read
/// one by one while they are sent, so the whole form is never in memory.
///
/// ```swift
/// let form = MultipartBody(
///     .field("title", "Holiday"), .file("photo", photo),
///     .data("note", data, fileName: "note.txt"))
/// let task: HTTPTask = .upload(form)
/// ```
///
/// The request announces the length if every part has one. ``failedFiles`` lists the files that could not be read when
/// the form was created. Sending then fails and names them, unless `skipsUnreadableFiles` is set. The form can be sent
/// again if every part can.
public struct MultipartBody: HTTPBody {
    /// The parts that are sent, in order.
    public internal(set) var parts: [Part]
    /// The paths of the files that could not be read when the form was created, in the order of their parts.
    public let failedFiles: [String]
    /// The delimiter between the parts.
    public let boundary: String
    private let skipsUnreadableFiles: Bool
    /// Whether the content is searched for the boundary. Only a boundary of the caller is searched.
    private let isGuarded: Bool

    /// Creates a form from parts.
    public init(_ parts: Part...) {
        self.init(parts)
    }

    /// Creates a form from parts.
    ///
    /// - Parameters:
    ///   - parts: The parts, in the order in which they are sent. No parts make an empty form.
    ///   - skipsUnreadableFiles: True sends the other parts when a file cannot be read. By default nothing is sent,
    ///     and ``NetworkError/Code/unreadableFile`` names the files.
    ///   - boundary: The delimiter between the parts: 1 to 70 of the characters in [RFC 2046
    ///     §5.1.1](https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1), or sending fails. Content that contains the
    ///     boundary fails too, with ``NetworkError/Code/encodingFailed``. Nil, the default, selects a boundary with 128
    ///     random bits.
    public init(_ parts: [Part], skipsUnreadableFiles: Bool = false, boundary: String? = nil) {
        let parts = parts.map(\.encodedOnce)
        let failed = parts.map(\.unreadableFile)
        failedFiles = failed.compactMap { $0 }
        self.parts = skipsUnreadableFiles ? zip(parts, failed).filter { $1 == nil }.map(\.0) : parts
        self.skipsUnreadableFiles = skipsUnreadableFiles
        isGuarded = boundary != nil
        self.boundary = boundary ?? "switchboard-" + Self.randomWord() + Self.randomWord()
    }

    private static func randomWord() -> String { UInt64.random(in: .min ... .max).hexText }

    /// `Content-Type: multipart/form-data` with the boundary.
    public var additionalHeaders: HTTPHeaders {
        let isToken = boundary.utf8.allSatisfy(ASCIISet.boundaryToken.contains)
        return ["Content-Type": "multipart/form-data; boundary=" + (isToken ? boundary : "\"\(boundary)\"")]
    }

    /// Whether the parts are read while they are sent: always true.
    public var isStreamed: Bool { true }

    /// Whether every part can be sent again.
    public var isReplayable: Bool { parts.allSatisfy(\.content.isReplayable) }

    /// The number of bytes, or nil if the length of a part is unknown, negative or too large.
    public var length: Int64? {
        guard fault == nil else { return nil }
        var length = Int64(boundary.utf8.count + 6)  // --boundary--CRLF
        for part in parts {
            guard let head = try? part.head(), let content = part.content.isEmpty ? 0 : part.content.length else {
                return nil
            }
            length += Int64(boundary.utf8.count + 4 + head.count + 2)
            // Half of the maximum, so that no addition overflows.
            guard content >= 0, content < .max / 2 - length else { return nil }
            length += content
        }
        return length
    }

    /// Returns the whole form in memory.
    ///
    /// - Throws: The errors of ``makeStream()`` and of the parts. A streamed part that is not a file cannot be encoded.
    public func encode() throws -> Data {
        if let fault { throw fault }
        var data = Data()
        for part in parts {
            data += try opening(of: part)
            let content = part.content.isEmpty ? Data() : try part.content.encode()
            var contentGuard = boundaryGuard
            try contentGuard.check(content)
            data += content + Data("\r\n".utf8)
        }
        return data + closing
    }

    /// Returns the form's bytes, part by part. Each file or stream is opened when its part begins.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed`` for an invalid boundary, ``NetworkError/Code/unreadableFile``
    ///   with the paths of the files. Reading throws the errors of the parts.
    public func makeStream() throws -> HTTPBodyStream {
        if let fault { throw fault }
        let reader = MultipartReader(self)
        return HTTPBodyStream { try await reader.next() }
    }

    // MARK: Framing

    func opening(of part: Part) throws(NetworkError) -> Data {
        Data("--\(boundary)\r\n".utf8) + (try part.head())
    }

    var closing: Data { Data("--\(boundary)--\r\n".utf8) }

    var boundaryGuard: BoundaryGuard { BoundaryGuard(isGuarded ? boundary : nil) }

    /// The reason why the form cannot be sent: its boundary, or the files that could not be read when it was created.
    var fault: NetworkError? {
        let isAllowed = boundary.utf8.allSatisfy(ASCIISet.boundary.contains)
        guard (1...70).contains(boundary.utf8.count), isAllowed, boundary.last != " " else {
            return NetworkError(
                .encodingFailed, reason: "\(boundary.quotedForMessage) is not a boundary (RFC 2046 §5.1.1)")
        }
        guard !skipsUnreadableFiles, !failedFiles.isEmpty else { return nil }
        return NetworkError(.unreadableFile, reason: failedFiles.map(\.quotedInFull).joined(separator: ", "))
    }
}

extension ASCIISet {
    /// The characters of a boundary (RFC 2046 §5.1.1).
    fileprivate static let boundary = boundaryToken.union(ASCIISet("(),/:=? "))
    /// The characters of a boundary that need no quotation marks.
    fileprivate static let boundaryToken = alphanumerics.union(ASCIISet("-_.+'"))
}
