import Foundation

extension String {
    /// The type and subtype of a `Content-Type` in lower case: `text/html` for `Text/HTML; charset=utf-8`.
    package var mediaType: String {
        String(decoding: utf8.prefix { $0 != .semicolon }.trimmedOfBlanks, as: UTF8.self).lowercased()
    }

    package var isForm: Bool { mediaType == "application/x-www-form-urlencoded" }

    /// The boundary of a `multipart` type, or nil for any other type.
    package var multipartBoundary: String? {
        mediaType.utf8.starts(withLowercase: "multipart/")
            ? mediaParameter("boundary").flatMap { $0.isEmpty ? nil : $0 } : nil
    }
}
