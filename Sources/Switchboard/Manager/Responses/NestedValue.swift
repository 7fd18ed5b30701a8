import SwitchboardJSON

/// A value inside of a response's object, at the path of the task.
struct NestedValue<Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        let keys = NetworkResponse.nestedPath.map { JSONPathKey(stringValue: $0) }
        guard let last = keys.last else {
            value = try decoder.singleValueContainer().decode(Value.self)
            return
        }
        var container = try decoder.container(keyedBy: JSONPathKey.self)
        for key in keys.dropLast() { container = try container.nestedContainer(keyedBy: JSONPathKey.self, forKey: key) }
        value = try container.decode(Value.self, forKey: last)
    }
}

extension NetworkResponse {
    /// The path of the value that the task decodes.
    @TaskLocal static var nestedPath: [String] = []
}
