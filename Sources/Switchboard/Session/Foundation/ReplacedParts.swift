import Foundation
import SwitchboardText

/// The boundaries of a `multipart/x-mixed-replace` body, which URLSession removes on Apple's systems. A reader of parts
/// then reads the same format as on Linux.
///
/// URLSession reports the response, then a response with the media type of each part
/// ([documentation](https://developer.apple.com/documentation/foundation/nsurlconnectiondatadelegate/connection(_:didreceive:)-8t66w)).
/// The fields of a part are those that differ from the fields of the first response. URLSession does not report the last
/// boundary, so the body has one if it ends without an error.
struct ReplacedParts {
    private let boundary: String
    private let headers: HTTPHeaders
    private var count = 0

    /// Creates the boundaries of a response. Nil for a response of another type.
    init?(_ head: NetworkResponse) {
        let type = head.headers.contentType ?? ""
        guard Self.matches(type), let boundary = try? MultipartBoundary.parse(contentType: type) else { return nil }
        self.boundary = boundary
        headers = head.headers
    }

    /// Returns the bytes before the content of a part.
    mutating func start(_ response: URLResponse) -> Data {
        var fields = HTTPHeaders()
        for field in (response as? HTTPURLResponse).map({ HTTPHeaders($0) }) ?? [:]
        where field.fault == nil && !headers.values(for: field.name).contains(field.value) {
            fields.append(field)
        }
        if !fields.contains("Content-Type"), let type = response.mimeType, !Self.matches(type) {
            fields.append(HTTPHeader(name: "Content-Type", value: type))
        }
        return start(fields)
    }

    /// Returns the bytes before the content of a part that was not reported, or nil if a part has begun.
    mutating func startFirstPart() -> Data? { count == 0 ? start([:]) : nil }

    /// The bytes after the last part.
    var end: Data { Data("\(delimiter)--\r\n".utf8) }

    private mutating func start(_ fields: HTTPHeaders) -> Data {
        defer { count += 1 }
        return Data("\(delimiter)\r\n\(fields.map { "\($0.name): \($0.value)\r\n" }.joined())\r\n".utf8)
    }

    private var delimiter: String { (count == 0 ? "--" : "\r\n--") + boundary }

    private static func matches(_ type: String) -> Bool {
        type.mediaType == "multipart/x-mixed-replace"
    }
}
