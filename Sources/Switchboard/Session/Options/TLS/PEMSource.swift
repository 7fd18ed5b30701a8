import Foundation
import SwitchboardText

/// Certificates or a key in PEM format: one or more blocks between `-----BEGIN` and `-----END` lines.
public enum PEMSource: Sendable, Hashable {
    /// A file that is read when a session first needs it.
    case file(URL)
    /// Text in memory.
    case data(Data)
}

extension PEMSource: CustomStringConvertible, CustomReflectable {
    /// The file's path or the number of bytes, never the content.
    public var description: String {
        switch self {
        case .file(let url): "PEM file \(url.path)"
        case .data(let data): "PEM of \(data.count) bytes"
        }
    }
    /// A mirror with only the description, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension PEMSource {
    /// Returns the bytes.
    ///
    /// - Throws: ``NetworkError/Code/insecureConnection`` when the file cannot be read or contains no PEM text.
    func contents() throws(NetworkError) -> Data {
        let data: Data
        switch self {
        case .data(let bytes): data = bytes
        case .file(let url):
            do {
                data = try Data(contentsOf: url)
            } catch {
                throw NetworkError(
                    .insecureConnection, reason: "the file \(url.path.quotedForMessage) cannot be read",
                    underlying: error)
            }
        }
        guard data.range(of: Data("-----BEGIN ".utf8)) != nil else {
            throw NetworkError(.insecureConnection, reason: "\(description.quotedForMessage) contains no PEM text")
        }
        return data
    }
}
