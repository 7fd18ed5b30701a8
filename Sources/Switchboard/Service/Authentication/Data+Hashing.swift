import SwitchboardPlatform
import SwitchboardText
import Foundation

extension MessageDigest {
    /// Returns the hash of data.
    ///
    /// - Throws: ``NetworkError/Code/unsupported`` when the system lacks the hash function.
    package func checkedHash(_ data: Data) throws(NetworkError) -> Data {
        do throws(DynamicLibrary.Failure) {
            return try hash(data)
        } catch {
            throw NetworkError(.unsupported, reason: "a hash is needed, but \(error.text)")
        }
    }
}

extension Data {
    /// The data as base64 for URLs, without padding ([RFC 4648 §5](https://www.rfc-editor.org/rfc/rfc4648#section-5)).
    package var base64URLText: String {
        base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    /// The bytes as hexadecimal digits in lower case, such as `0a1b`.
    package var hexText: String { map(\.hexText).joined() }
}
