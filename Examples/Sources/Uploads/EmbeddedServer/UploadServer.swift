import ExampleKit
import Foundation
import Switchboard
import SwitchboardMocks

/// A server that parses each upload with separate parsers and reports what it received.
///
/// Answers `POST /json`, `POST /form`, `POST /multipart` and `PUT /files/NAME`.
nonisolated enum UploadServer {
    @Sendable static func answer(_ request: RecordedRequest) throws -> MockResponse {
        let fullType = request.headers["Content-Type"] ?? ""
        let type = fullType.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        let items: [ReceiptRecord.Item]?
        switch (request.method, request.segments.first, type) {
        case (.post, "json", "application/json"): items = JSONReader.items(of: request.body)
        case (.post, "form", "application/x-www-form-urlencoded"): items = FormReader.items(of: request.body)
        case (.post, "multipart", "multipart/form-data"):
            items = PartReader.items(of: request.body, contentType: fullType)
        case (.put, "files", _) where request.segments.count == 2:
            items = [.file(request.segments[1], name: request.segments[1], type: type, request.body[...])]
        case (_, "json", _), (_, "form", _), (_, "multipart", _):
            return .json(#"{"message": "There is nothing here that takes such a body."}"#, statusCode: 415)
        default: return .json(#"{"message": "There is nothing here."}"#, statusCode: 404)
        }
        guard let items else { return .json(#"{"message": "The body makes no sense."}"#, statusCode: 400) }
        return try .record(ReceiptRecord(type: type, bytes: request.body.count, items: items))
    }
}

/// The parsed upload, as the server reports it.
nonisolated struct ReceiptRecord: Encodable {
    struct Item: Encodable {
        let name: String
        let kind: String
        let content: String

        /// Creates the item of a file with its type, size and checksum, and with its name if the field's differs.
        static func file(_ field: String, name: String, type: String, _ bytes: Data) -> Item {
            let sum = String(format: "%08x", adler32(bytes))
            let parts = (name == field ? [] : [name]) + [type, counted(bytes.count, "byte"), sum]
            return Item(name: field, kind: "file", content: parts.joined(separator: ", "))
        }
    }

    let type: String
    let bytes: Int
    let items: [Item]
}

/// Returns the checksum of [RFC 1950 §8.2](https://www.rfc-editor.org/rfc/rfc1950#section-8.2).
nonisolated func adler32(_ bytes: some Sequence<UInt8>) -> UInt32 {
    var (one, two): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
        one = (one + UInt32(byte)) % 65_521
        two = (two + one) % 65_521
    }
    return two << 16 | one
}
