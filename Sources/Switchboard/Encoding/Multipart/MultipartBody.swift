import Foundation
import SwitchboardText

/// A form with files, `multipart/form-data` ([RFC 7578](https://www.rfc-editor.org/rfc/rfc7578)), read part by part while
/// it is sent: never as a whole in memory.
///
/// ```swift
/// let form = MultipartBody(.field("title", "Holiday"), .file("photo", photo), .data("note", note, fileName: "note.txt"))
/// case .add(let form): .upload(form)                           // the task of an endpoint
/// ```
///
/// The length is announced where every part has one. A file that cannot be read when the form is made is listed in
/// ``failedFiles``; sending then fails and names it, unless the form is to skip such files. The form can be sent
/// again when every part can.
public struct MultipartBody: HTTPBody {
    /// The parts that are sent, in order.
    public let parts: [Part]
    /// The paths of the files that could not be read when the form was made, in the order of their parts.
    public let failedFiles: [String]
    /// What stands between the parts.
    public let boundary: String
    private let skipsUnreadableFiles: Bool
    /// Set where the boundary was given: it is looked for in the content.
    private let isGuarded: Bool

    /// A form of these parts.
    public init(_ parts: Part...) {
        self.init(parts)
    }

    /// A form of these parts.
    ///
    /// - Parameters:
    ///   - parts: The parts in the order in which they are sent. None make an empty form.
    ///   - skipsUnreadableFiles: Whether the other parts are sent when a file cannot be read. By default nothing is, and
    ///     ``NetworkError/Code/unreadableFile`` names the files.
    ///   - boundary: What stands between the parts: 1 to 70 of the characters of [RFC 2046
    ///     §5.1.1](https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1), else sending fails. Content with it ends the
    ///     request too, with ``NetworkError/Code/encodingFailed``. Nil, the default, for a random one of 128 bits, which
    ///     no content can know.
    public init(_ parts: [Part], skipsUnreadableFiles: Bool = false, boundary: String? = nil) {
        let parts = parts.map(\.encodedOnce)
        let failed = parts.map(\.unreadableFile)
        failedFiles = failed.compactMap { $0 }
        self.parts = skipsUnreadableFiles ? zip(parts, failed).filter { $1 == nil }.map(\.0) : parts
        self.skipsUnreadableFiles = skipsUnreadableFiles
        isGuarded = boundary != nil
        self.boundary = boundary ?? "switchboard-" + Self.randomWord() + Self.randomWord()
    }

    private static func randomWord() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// `multipart/form-data` with the boundary.
    public var additionalHeaders: HTTPHeaders {
        let isToken = boundary.utf8.allSatisfy(ASCIISet.boundaryToken.contains)
        return ["Content-Type": "multipart/form-data; boundary=" + (isToken ? boundary : "\"\(boundary)\"")]
    }

    /// True: parts are read as they are sent.
    public var isStreamed: Bool { true }

    /// Whether every part can be sent again.
    public var isReplayable: Bool { parts.allSatisfy(\.content.isReplayable) }

    /// The number of bytes; nil when a part does not know its own.
    public var length: Int64? {
        guard fault == nil else { return nil }
        var length = Int64(boundary.utf8.count + 6)  // --boundary--CRLF
        for part in parts {
            guard let head = try? part.head(), let content = part.content.isEmpty ? 0 : part.content.length else {
                return nil
            }
            length += Int64(boundary.utf8.count + 4 + head.count + 2) + content
        }
        return length
    }

    /// The whole form in memory.
    ///
    /// - Throws: What ``makeStream()`` throws; a part that is streamed from anything but a file cannot be encoded.
    public func encode() throws -> Data {
        try check()
        var data = Data()
        for part in parts {
            data += try opening(of: part)
            let content = part.content.isEmpty ? Data() : try part.content.encode()
            var guardian = boundaryGuard
            try guardian.pass(content)
            data += content + Data("\r\n".utf8)
        }
        return data + closing
    }

    /// The form's bytes, part by part. Files and streams are opened when it is their turn.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed``, naming what cannot be sent.
    public func makeStream() throws -> HTTPBodyStream {
        try check()
        let reader = MultipartReader(self)
        return HTTPBodyStream { try await reader.next() }
    }

    // MARK: Framing

    func opening(of part: Part) throws(NetworkError) -> Data {
        Data("--\(boundary)\r\n".utf8) + (try part.head())
    }

    var closing: Data { Data("--\(boundary)--\r\n".utf8) }

    /// What looks for the boundary in a part's content.
    var boundaryGuard: BoundaryGuard { BoundaryGuard(isGuarded ? boundary : nil) }

    private func check() throws(NetworkError) {
        if let fault { throw fault }
    }

    private var fault: NetworkError? {
        let isAllowed = boundary.utf8.allSatisfy(ASCIISet.boundary.contains)
        guard (1...70).contains(boundary.utf8.count), isAllowed, boundary.last != " " else {
            return NetworkError(
                .encodingFailed, reason: "\(boundary.quotedForMessage) is not a boundary (RFC 2046 §5.1.1)")
        }
        guard !skipsUnreadableFiles, !failedFiles.isEmpty else { return nil }
        return NetworkError(.unreadableFile, reason: failedFiles.map(\.quotedForMessage).joined(separator: ", "))
    }
}

extension ASCIISet {
    /// What may stand in a boundary (RFC 2046 §5.1.1).
    fileprivate static let boundary = boundaryToken.union(ASCIISet("(),/:=? "))
    /// What of it needs no quotation marks.
    fileprivate static let boundaryToken = alphanumerics.union(ASCIISet("-_.+'"))
}
