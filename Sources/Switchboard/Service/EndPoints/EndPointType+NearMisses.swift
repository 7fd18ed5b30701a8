import SwitchboardPlatform
import SwitchboardText
import Foundation

extension EndPointRecord {
    /// One message for each stored property with a misspelled name of a member, which compiles and has no effect.
    ///
    /// Computed properties cannot be found at run time. Off its actor, an endpoint cannot be cast to ``EndPointType``.
    static func nearMisses(of endPoint: Any) -> [String] {
        Mirror(reflecting: endPoint).children.compactMap { child in
            guard let label = child.label,
                let member = members.first(where: { $0.fits(child.value) && label.isAlmost($0.name) })?.name
            else { return nil }
            return "\(type(of: endPoint)) has a property \(label.quotedForMessage), which no endpoint has: "
                + "did you mean \(member.quotedForMessage)?"
        }
    }

    private static var members: [(name: String, fits: (Any) -> Bool)] {
        [
            ("httpMethod", { $0 is HTTPMethod || $0 is String }), ("task", { $0 is HTTPTask }),
            ("headers", { $0 is HTTPHeaders || $0 is [String: Any] || $0 is [HTTPHeader] }),
            ("options", { $0 is RequestOptions }),
        ]
    }
}

extension EndPointType {
    /// Prints the near misses of a type once, in debug builds.
    func printNearMisses() {
        assert(
            {
                let isNew = checkedTypes.withLock { $0.insert(ObjectIdentifier(Self.self)).inserted }
                guard isNew else { return true }
                for text in EndPointRecord.nearMisses(of: self) { StandardError.write("Switchboard: \(text)\n") }
                return true
            }())
    }
}

private let checkedTypes = Protected<Set<ObjectIdentifier>>([])

extension String {
    /// Returns whether the texts differ only by case, or by one character that is missing, added, changed or swapped.
    fileprivate func isAlmost(_ other: String) -> Bool {
        guard self != other else { return false }
        let (lhs, rhs) = (Array(lowercased()), Array(other.lowercased()))
        let start = zip(lhs, rhs).prefix { $0 == $1 }.count
        let end = zip(lhs[start...].reversed(), rhs[start...].reversed()).prefix { $0 == $1 }.count
        let (rest, otherRest) = (lhs[start..<(lhs.count - end)], rhs[start..<(rhs.count - end)])
        return max(rest.count, otherRest.count) <= 1 || rest.count == 2 && rest.elementsEqual(otherRest.reversed())
    }
}
