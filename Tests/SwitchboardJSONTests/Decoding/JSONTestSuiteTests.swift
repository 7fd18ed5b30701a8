import Foundation
import SwitchboardJSON
import SwitchboardTestSupport
import SwitchboardTestSupport
import Testing

@Suite(.jsonTestSuite)
struct JSONTestSuiteTests {
    @Test("each y_ text is accepted and decodes as with JSONDecoder", arguments: JSONVectors.names("y_"))
    func accepted(name: String) throws {
        let data = try JSONVectors.data(name)
        let tree = try FastJSONDecoder().decode(JSONTree.self, from: data)
        // Foundation on Linux rejects `0e1`.
        if let theirs = try? JSONDecoder().decode(JSONTree.self, from: data) { #expect(tree == theirs) }
    }

    @Test("each n_ text throws dataCorrupted", arguments: JSONVectors.names("n_"))
    func refused(name: String) throws {
        let data = try JSONVectors.data(name)
        let error = #expect(throws: DecodingError.self) { try FastJSONDecoder().decode(AnyJSON.self, from: data) }
        guard case .dataCorrupted = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    /// Whether the text is accepted, and whether its numbers fit in a `Double`.
    private static let choices: [String: (isAccepted: Bool, isRead: Bool)] = [
        // Numbers may have any size. A type that cannot hold one throws, and no number becomes infinite or zero.
        "i_number_double_huge_neg_exp": (true, false),
        "i_number_huge_exp": (true, false),
        "i_number_neg_int_huge_exp": (true, false),
        "i_number_pos_double_huge_exp": (true, false),
        "i_number_real_neg_overflow": (true, false),
        "i_number_real_pos_overflow": (true, false),
        "i_number_real_underflow": (true, false),
        "i_number_too_big_neg_int": (true, true),
        "i_number_too_big_pos_int": (true, true),
        "i_number_very_big_negative_int": (true, true),
        // A byte-order mark is skipped. 500 levels are below the limit of 512.
        "i_structure_500_nested_arrays": (true, true),
        "i_structure_UTF-8_BOM_empty_object": (true, true),
        // All other texts have lone surrogates, invalid UTF-8 or UTF-16.
    ]

    @Test("each i_ text is accepted or rejected as the table lists", arguments: JSONVectors.names("i_"))
    func chosen(name: String) throws {
        let data = try JSONVectors.data(name)
        let choice = JSONTestSuiteTests.choices[name] ?? (isAccepted: false, isRead: false)
        #expect(((try? FastJSONDecoder().decode(AnyJSON.self, from: data)) != nil) == choice.isAccepted)
        #expect(((try? FastJSONDecoder().decode(JSONTree.self, from: data)) != nil) == choice.isRead)
    }

    @Test("the suite contains all 318 texts")
    func complete() {
        #expect(["y_", "n_", "i_"].map { JSONVectors.names($0).count } == [95, 188, 35])
    }
}

/// The texts of JSONTestSuite, in ``Vectors``.
enum JSONVectors {
    static let folder = Vectors.folder.appendingPathComponent("json-test-suite", isDirectory: true)

    static let isThere = FileManager.default.fileExists(atPath: folder.path)

    /// Returns the sorted names of the texts with a prefix, without `.json`.
    static func names(_ prefix: String) -> [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasPrefix(prefix) && $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()
    }

    static func data(_ name: String) throws -> Data {
        // `Data(contentsOf:)` of an empty file leaks on Linux, which the address sanitizer reports.
        try FileHandle(forReadingFrom: folder.appendingPathComponent(name + ".json")).readToEnd() ?? Data()
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test where JSONTestSuite is missing.
    static var jsonTestSuite: Self {
        .enabled(if: JSONVectors.isThere, "left out without ../shared/vectors/json-test-suite")
    }
}
