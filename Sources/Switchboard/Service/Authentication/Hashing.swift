import SwitchboardPlatform
import Foundation

extension MessageDigest {
    /// The hash of some bytes.
    ///
    /// - Throws: ``NetworkError/Code/unsupported`` where the system has no such function.
    package func checkedHash(_ data: Data) throws(NetworkError) -> Data {
        do throws(DynamicLibrary.Failure) {
            return try hash(data)
        } catch {
            throw NetworkError(.unsupported, reason: "a hash is needed, but \(error.text)")
        }
    }
}

extension Data {
    /// Base64 for URLs, without padding ([RFC 4648 §5](https://www.rfc-editor.org/rfc/rfc4648#section-5)).
    package var base64URLText: String {
        base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    /// `0a1b`, in lower case.
    package var hexText: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Bytes that nobody can foresee.
    package static func random(_ count: Int) -> Data {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
