import Foundation
import SwitchboardContracts

extension Target {
    static let contracts = [contractText, contractSchema, contractAnswers]

    private static let contractText = Target("contract") { bytes in
        guard let contract = try? Contract(String(bytes)) else { return }
        checkText(of: contract)
    } read: {
        _ = try? Contract(String($0))
    }

    private static let contractSchema = Target("contract-schema") { bytes in
        guard let contract = try? Contract(schema: Data(bytes)) else { return }
        checkText(of: contract)
    } read: {
        _ = try? Contract(schema: Data($0))
    }

    private static let contractAnswers = Target("contract-answers") { bytes in
        // Most inputs are one answer. A zero separates several.
        let answers = Data(bytes).split(separator: 0, omittingEmptySubsequences: false).map { Data($0) }
        guard let contract = try? Contract(answers: answers) else { return }
        checkText(of: contract)
        let stored = try? Contract(contract.description)
        for answer in answers {
            let differences = contract.differences(in: answer)
            check(differences.isEmpty, "\(differences) in an answer that the contract was made from")
            check(stored?.differences(in: answer).isEmpty == true, "the contract that was read again has differences")
        }
    } read: { bytes in
        let contract = try? Contract(answers: [Data(bytes)])
        _ = contract?.differences(in: Data(bytes))
    }

    private static func checkText(of contract: Contract) {
        let text = contract.description
        let again = Result { try Contract(text) }
        check(again.value?.description == text, "\(text) was read as \(again)")
    }
}
