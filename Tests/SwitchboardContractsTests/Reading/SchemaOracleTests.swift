import Foundation
import SwitchboardContracts
import Testing

/// A random schema and values, and whether the Python package jsonschema accepts each value.
private struct SchemaCase: Decodable {
    let schema: String
    let values: [String]
    let isValid: [Bool]
}

struct SchemaOracleTests {
    private static let folder = ProcessInfo.processInfo.environment["SWITCHBOARD_SERVERS"]

    @Test(
        "a contract of a schema agrees with jsonschema about each value",
        .enabled(if: folder != nil, "left out without jsonschema: run scripts/oracles/with-httpbin swift test"))
    func jsonSchema() throws {
        let file = URL(fileURLWithPath: try #require(Self.folder)).appendingPathComponent("schemas.json")
        let cases = try JSONDecoder().decode([SchemaCase].self, from: Data(contentsOf: file))
        #expect(cases.count >= 400)
        var valid = 0
        for one in cases {
            let contract = try Contract(schema: Data(one.schema.utf8))
            #expect(contract.ignoredKeywords == [], "\(one.schema)")
            let stored = try Contract(contract.description)
            for (value, isValid) in zip(one.values, one.isValid) {
                let differences = contract.differences(in: Data(value.utf8))
                #expect(differences.isEmpty == isValid, "\(value) of \(one.schema): \(differences)")
                #expect(stored.differences(in: Data(value.utf8)) == differences)
                valid += isValid ? 1 : 0
            }
        }
        #expect(valid > 1_000 && valid < cases.count * 12 - 500)
    }
}
