import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardText

extension Contract {
    /// Returns the differences of an answer, and which members of a type each of them breaks.
    ///
    /// ```swift
    /// let contract = try Contract(contentsOf: file)
    /// let differences = contract.differences(
    ///     in: data, breaking: MoviePage.self)
    /// // results[].id: was integer, is string;
    /// // breaks MoviePage.results[].id
    /// for difference in differences { print(difference) }
    /// ```
    ///
    /// The type decodes the answer, and after each failure again with a value of the contract in place of the broken
    /// part. A difference that the type tolerates breaks nothing. The time grows with the number of broken members.
    ///
    /// - Parameters:
    ///   - answer: The JSON.
    ///   - type: The type that decodes the answer.
    ///   - decoder: Decodes the answer. Default `FastJSONDecoder.ofResponses`, as for a router.
    /// - Returns: The differences of ``differences(in:)``.
    public func differences<Value: Decodable>(
        in answer: Data, breaking type: Value.Type, decoder: any ResponseDecoder = FastJSONDecoder.ofResponses
    ) -> [ContractDifference] {
        guard let values = try? JSONValues(answer) else { return [notJSON] }
        var check = ContractCheck(self, values, .standard)
        check.storesLocations = true
        check.run()
        var found = check.found
        var repaired: Set<Int> = []
        while repaired.count < found.count {
            let text = repaired.isEmpty ? answer : repair(values, repaired.map { found[$0] })
            do {
                _ = try decoder.decode(type, from: text)
                break
            } catch let error as DecodingError {
                let path = error.failedPath
                guard let number = number(of: path, in: values, found, without: repaired) else { break }
                repaired.insert(number)
                found[number].difference.brokenMember = "\(TypeText.text(of: type))\(path.memberText)"
            } catch {
                break
            }
        }
        return found.map(\.difference).sorted()
    }

    /// Returns the number of the difference that a path leads to, or that is nearest above or below it.
    private func number(
        of path: [any CodingKey], in values: JSONValues, _ found: [ContractCheck.Found], without repaired: Set<Int>
    ) -> Int? {
        let visited = steps(along: path, in: values)
        let numbers = found.indices.filter { !repaired.contains($0) && found[$0].shape != nil }
        for (index, step) in visited.enumerated().reversed() {
            let candidates = numbers.filter { found[$0].shape == step.shape }
            let parent = index > 0 ? visited[index - 1].value : nil
            let exact = candidates.first { number in
                guard let location = found[number].missingName == nil ? step.value : parent else { return false }
                return found[number].locations.contains(location)
            }
            // A value that the answer lacks, or that a decoder names in another way, may be at any location.
            if let number = exact ?? (step.value == nil ? candidates.first : nil) { return number }
        }
        // A type that decodes a container by hand reports the container.
        guard visited.count == path.count + 1, let last = visited.last else { return nil }
        let inside = last.value.map { $0..<values.after($0) }
        return numbers.first { number in
            var shape = found[number].shape ?? 0
            while shape != 0, shape != last.shape { shape = shapes[shape].parent }
            guard shape == last.shape, let inside else { return shape == last.shape }
            return found[number].locations.contains { inside.contains($0) }
        }
    }

    /// Returns the shapes that a coding path passes, from the top level, and the values there. Nil for a value that the
    /// answer lacks.
    private func steps(along path: [any CodingKey], in values: JSONValues) -> [(shape: Int, value: Int?)] {
        var visited: [(shape: Int, value: Int?)] = [(0, JSONValues.root)]
        for key in path {
            let (number, value) = visited[visited.count - 1]
            let shape = shapes[number]
            let isIndex = key.intValue != nil && shape.element != nil && shape.members.isEmpty
            let name = key.stringValue
            let member = shape.members.first { $0.text == name } ?? shape.members.first { $0.text.camelCased == name }
            guard let next = isIndex ? shape.element : member?.shape ?? shape.others else { break }
            let nextValue = value.flatMap { container in
                isIndex
                    ? values.element(key.intValue ?? 0, of: container)
                    : values.member(member?.text ?? name, of: container)
            }
            visited.append((next, nextValue))
        }
        return visited
    }

    private func repair(_ values: JSONValues, _ found: [ContractCheck.Found]) -> Data {
        var replaced: [Int: String] = [:]
        var added: [Int: [String]] = [:]
        for difference in found {
            guard let shape = difference.shape else { continue }
            var size = 1_000
            let sample = sample(of: shape, &size)
            for location in difference.locations {
                if let name = difference.missingName {
                    added[location, default: []].append("\(name.jsonQuoted):\(sample)")
                } else {
                    replaced[location] = sample
                }
            }
        }
        return values.replacing(replaced, adding: added)
    }

    /// Returns a small value of a shape, as JSON. `size` is the number of objects that it may still have, because
    /// required members may contain themselves.
    private func sample(of shape: Int, _ size: inout Int, depth: Int = 0) -> String {
        let one = shapes[shape]
        if one.kinds.contains(.object), depth < 32, size > 0 {
            size -= 1
            var members: [String] = []
            for member in one.members where !member.isOptional {
                members.append("\(member.text.jsonQuoted):\(sample(of: member.shape, &size, depth: depth + 1))")
            }
            return "{\(members.joined(separator: ","))}"
        }
        if one.kinds.contains(.array) { return "[]" }
        if one.kinds.contains(.string) {
            switch one.strings {
            case .any: return "\"text\""
            case .values(let values): return (values.first ?? "").jsonQuoted
            case .formats(let formats):
                if formats.contains(.dateTime) { return "\"2001-01-01T00:00:00Z\"" }
                if formats.contains(.date) { return "\"2001-01-01\"" }
                if formats.contains(.uuid) { return "\"00000000-0000-4000-8000-000000000000\"" }
                return formats.contains(.url) ? "\"https://example.com/\"" : "\"name@example.com\""
            }
        }
        if !one.kinds.isDisjoint(with: [.integer, .number]) { return "0" }
        return one.kinds.contains(.boolean) ? "false" : "null"
    }
}

extension JSONValues {
    fileprivate func element(_ position: Int, of array: Int) -> Int? {
        guard kind(at: array) == .array, position >= 0 else { return nil }
        let end = after(array)
        var (index, left) = (array + 1, position)
        while left > 0, index < end {
            index = after(index)
            left -= 1
        }
        return index < end ? index : nil
    }

    /// Returns a member of a value, the last one if the name repeats. Nil if there is none.
    fileprivate func member(_ name: String, of object: Int) -> Int? {
        guard kind(at: object) == .object else { return nil }
        let end = after(object)
        var index = object + 1
        var found: Int?
        while index < end {
            if withText(at: index, { $0.elementsEqual(name.utf8) }) { found = index + 1 }
            index = after(index + 1)
        }
        return found
    }
}

extension DecodingError {
    /// The path of the value that did not decode, or of the missing member.
    fileprivate var failedPath: [any CodingKey] {
        if case .keyNotFound(let key, let context) = self { context.codingPath + [key] } else { context.codingPath }
    }
}

extension [any CodingKey] {
    /// The path after the name of a type, with `[]` for each index and `{}` for each key of a map, which may be a
    /// user's: `.results[].title`.
    fileprivate var memberText: String {
        reduce(into: "") { text, key in
            let name = key.stringValue
            text += key.intValue != nil ? "[]" : name.isMapKey ? "{}" : "." + name.shortForMessage
        }
    }
}
