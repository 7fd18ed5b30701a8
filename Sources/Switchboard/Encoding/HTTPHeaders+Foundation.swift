import Foundation

extension HTTPHeaders {
    /// One entry for each name, in the spelling of its first field; repeats joined as their name demands.
    var joinedByName: [String: String] {
        var fields: [String: String] = [:]
        var seen: Set<String> = []
        for field in self where seen.insert(field.name.lowercased()).inserted {
            // RFC 6265 §4.2.1: the pairs of one Cookie field are separated by semicolons.
            let separator = field.name.equalsIgnoringCase("Cookie") ? "; " : ", "
            fields[field.name] = values(for: field.name).joined(separator: separator)
        }
        return fields
    }
}
