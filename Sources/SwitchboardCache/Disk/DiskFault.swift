import Foundation
import Switchboard

/// The reason why a response is not stored on disk.
struct DiskFault: Error, ExpressibleByStringLiteral {
    let text: String

    init(stringLiteral text: String) {
        self.text = text
    }

    init(_ error: any Error) {
        text = (error as? NetworkError)?.summary ?? error.localizedDescription
    }
}

extension CacheDraft {
    /// Appends the body of a response.
    func append(bodyOf response: StoredResponse) throws {
        if let file = response.file { try append(file) } else { try append(response.body) }
    }
}
