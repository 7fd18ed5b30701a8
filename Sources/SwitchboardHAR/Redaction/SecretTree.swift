import Foundation

/// The secrets of an archive, as a tree of their characters. An occurrence may have each character as it is, or escaped
/// for a URL, for JSON, for JSON within JSON or for markup, mixed as servers mix them.
///
/// The number of steps of a search is proportional to the text, whatever the number and length of the secrets.
struct SecretTree: Sendable {
    private struct Edge: Hashable {
        var node: Int
        var scalar: Unicode.Scalar
    }

    /// A way to read the bytes before an index as the characters on the way to a node.
    private struct Reading: Equatable {
        var index: Int
        var node: Int
    }

    /// The number of characters from which the beginning of a secret counts as the secret.
    static let longest = 64
    /// The number of readings of the same bytes that a search follows.
    static let maximumReadings = 8

    private var children: [Edge: Int] = [:]
    /// For each node, true if a secret ends there.
    private var isEnd = [false]
    /// The forms of characters, as a tree of bytes.
    private var forms: [(children: [UInt8: Int], scalars: [Unicode.Scalar])] = [([:], [])]
    /// The bytes that an occurrence may begin with.
    private var firstBytes = [Bool](repeating: false, count: 256)

    var isEmpty: Bool { children.isEmpty }

    init(_ secrets: some Sequence<String>) {
        var known: Set<Unicode.Scalar> = []
        for secret in secrets {
            var node = 0
            for scalar in secret.unicodeScalars {
                if known.insert(scalar).inserted { addForms(of: scalar) }
                if node == 0 { for form in scalar.writtenForms { firstBytes[Int(form[0])] = true } }
                let edge = Edge(node: node, scalar: scalar)
                node = children[edge] ?? isEnd.count
                if node == isEnd.count {
                    children[edge] = node
                    isEnd.append(false)
                }
            }
            if node > 0 { isEnd[node] = true }
        }
    }

    private mutating func addForms(of scalar: Unicode.Scalar) {
        for form in Set(scalar.writtenForms) {
            var node = 0
            for byte in form {
                let next = forms[node].children[byte] ?? forms.count
                if next == forms.count {
                    forms[node].children[byte] = next
                    forms.append(([:], []))
                }
                node = next
            }
            forms[node].scalars.append(scalar)
        }
    }

    /// Returns the end of the longest occurrence of a secret at this index, or of the beginning of a long one. Nil
    /// without one. Adds the number of compared characters to `steps`.
    func end(in bytes: [UInt8], from start: Int, steps: inout Int) -> Int? {
        guard firstBytes[Int(bytes[start])] else { return nil }
        var found: Int?
        var readings = [Reading(index: start, node: 0)]
        var length = 0
        while !readings.isEmpty {
            var next: [Reading] = []
            for reading in readings { extend(reading, in: bytes, into: &next, &steps) }
            readings = next
            length += 1
            for reading in readings where length >= Self.longest || isEnd[reading.node] {
                found = Swift.max(found ?? 0, reading.index)
            }
        }
        return found
    }

    /// Adds the readings that are longer by one character.
    private func extend(_ reading: Reading, in bytes: [UInt8], into next: inout [Reading], _ steps: inout Int) {
        var form = 0
        var index = reading.index
        while index < bytes.count, let child = forms[form].children[bytes[index]] {
            form = child
            index += 1
            for scalar in forms[form].scalars {
                steps += 1
                guard let node = children[Edge(node: reading.node, scalar: scalar)] else { continue }
                let longer = Reading(index: index, node: node)
                if next.count < Self.maximumReadings, !next.contains(longer) { next.append(longer) }
            }
        }
    }
}
