import Foundation

extension String {
    /// Type and subtype of a `Content-Type`, in lower case: `text/html` of `Text/HTML; charset=utf-8`.
    package var mediaType: String {
        prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }

    /// A parameter of a `Content-Type`, quotes taken off; nil when there is none of that name.
    package func mediaParameter(_ name: String) -> String? {
        for part in split(separator: ";").dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard pair.count == 2, pair[0].lowercased() == name else { continue }
            return pair[1].trimmingCharacters(in: CharacterSet(charactersIn: "\""))
        }
        return nil
    }

    package var isForm: Bool { mediaType == "application/x-www-form-urlencoded" }

    /// What separates the parts of a `multipart` type; nil for any other.
    package var multipartBoundary: String? {
        mediaType.hasPrefix("multipart/") ? mediaParameter("boundary").flatMap { $0.isEmpty ? nil : $0 } : nil
    }
}
