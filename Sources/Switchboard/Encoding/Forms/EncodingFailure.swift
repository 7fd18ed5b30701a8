import SwitchboardText

/// Describes an `EncodingError` in one line, without the value.
enum EncodingFailure {
    static func describe(_ error: any Error, at path: String = "") -> String {
        switch error {
        case let error as NetworkError:
            return error.reason ?? error.code.title
        case EncodingError.invalidValue(let value, let context):
            let path = path + context.codingPath.pathText
            let subject = path.isEmpty ? "the value" : "the value of \(path.quotedForMessage)"
            return "\(subject), a \(type(of: value)), cannot be encoded: \(context.debugDescription)"
        default:
            return (path.isEmpty ? "" : "\(path): ") + "\(type(of: error)) was thrown by the value's encode(to:)"
        }
    }
}
