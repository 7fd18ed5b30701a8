import Foundation

extension HTTPHeaders {
    /// One entry for each name, in the spelling of its first field; repeats joined as their name demands. In one pass:
    /// a server chooses how many there are.
    var joinedByName: [String: String] {
        var values: [String: (name: String, values: [String])] = [:]
        for field in self {
            values[field.name.lowercased(), default: (field.name, [])].values.append(field.value)
        }
        return Dictionary(
            uniqueKeysWithValues: values.map { key, field in
                // RFC 6265 §4.2.1: the pairs of one Cookie field are separated by semicolons.
                (field.name, field.values.joined(separator: key == "cookie" ? "; " : ", "))
            })
    }
}
