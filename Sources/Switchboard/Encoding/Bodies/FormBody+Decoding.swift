import Foundation
import SwitchboardText

extension FormBody {
    /// Returns the pairs of a query or a form body, in order, as the parser of the [URL standard
    /// §5.1](https://url.spec.whatwg.org/#urlencoded-parsing) reads them.
    ///
    /// `+` becomes a space, an invalid `%` stays as it is, bytes that are not UTF-8 become U+FFFD, and empty pairs are
    /// skipped. A name without `=` has the value nil; in that standard, it has an empty string.
    public static func decode(_ text: some StringProtocol) -> [URLQueryItem] {
        decode(bytes: text.utf8)
    }

    /// Returns the pairs of a form body. See ``decode(_:)-(StringProtocol)``.
    public static func decode(_ data: Data) -> [URLQueryItem] {
        decode(bytes: data)
    }

    private static func decode(bytes: some Collection<UInt8>) -> [URLQueryItem] {
        bytes.split(separator: .ampersand).map { pair in
            guard let equals = pair.firstIndex(of: .equals) else {
                return URLQueryItem(name: unescaped(pair), value: nil)
            }
            return URLQueryItem(name: unescaped(pair[..<equals]), value: unescaped(pair[pair.index(after: equals)...]))
        }
    }

    private static func unescaped(_ text: some Collection<UInt8>) -> String {
        String(decoding: text.map { $0 == .plus ? .space : $0 }.percentDecoded, as: UTF8.self)
    }
}
