import Foundation
import SwitchboardText

/// Certificates or a key in PEM form: text between `-----BEGIN` and `-----END` lines, one or several.
public enum PEMSource: Sendable, Hashable {
    /// Read from a file when a session first needs it.
    case file(URL)
    /// At hand.
    case data(Data)
}

extension PEMSource: CustomStringConvertible, CustomReflectable {
    /// The file's path, or the number of bytes: never what they say.
    public var description: String {
        switch self {
        case .file(let url): "PEM file \(url.path)"
        case .data(let data): "PEM of \(data.count) bytes"
        }
    }
    /// Shows the description only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension PEMSource {
    /// The bytes.
    ///
    /// - Throws: ``NetworkError/Code/insecureConnection`` when the file cannot be read or holds no PEM.
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
