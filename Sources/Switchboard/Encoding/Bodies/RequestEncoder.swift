import Foundation
import SwitchboardJSON

/// Makes the bytes of a ``JSONBody`` of its value. `FastJSONEncoder` and `JSONEncoder` are two.
public protocol RequestEncoder: Sendable {
    /// The bytes, or what was wrong: an `EncodingError` gets its key path into the error's reason.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension FastJSONEncoder: RequestEncoder {}
extension JSONEncoder: RequestEncoder {}

extension FastJSONEncoder {
    /// The default encoder with another text for dates.
    package init(dateEncoding: DateEncoding) {
        self.init()
        dateEncodingStrategy = .custom { date, encoder in try dateEncoding.value(date).encode(to: encoder) }
    }
}
