import Foundation

extension HTTPHeaders {
    /// One entry for each name, spelled as in its first field, with repeated values joined. The loop runs in one pass,
    /// because the server chooses the number of fields.
    var joinedByName: [String: String] {
        var values: [String: (name: String, values: [String])] = [:]
        for field in self {
            values[field.name.lowercased(), default: (field.name, [])].values.append(field.value)
        }
        return Dictionary(
            uniqueKeysWithValues: values.map { key, field in
                // Semicolons separate the pairs of one Cookie field (RFC 6265 §4.2.1).
                (field.name, field.values.joined(separator: key == "cookie" ? "; " : ", "))
            })
    }
}
