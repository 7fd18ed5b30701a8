import Foundation
import Switchboard
import SwitchboardHAR
import SwitchboardText

extension Contract {
    /// Creates a contract from the JSON answers in an HTTP archive: a cassette, or an export of a browser.
    ///
    /// ```swift
    /// let contract = try Contract(archive: file) {
    ///     $0.path.hasSuffix("/movie/popular")
    /// }
    /// ```
    ///
    /// Only complete answers with a 2xx status other than 206 and a body count.
    ///
    /// - Parameters:
    ///   - file: The archive, in HAR 1.2.
    ///   - isIncluded: Returns whether the answer of a URL belongs to the contract.
    /// - Throws: `NetworkError.Code.contractFault` for a file that cannot be read, for an archive without such an answer,
    ///   for an answer that is not JSON, and for a contract that is too large.
    public init(archive file: URL, where isIncluded: (URL) -> Bool) throws(NetworkError) {
        try self.init(answers: Contract.answers(in: file, where: isIncluded))
    }

    /// Returns the differences of all answers of an archive that belong to the contract, as ``init(archive:where:)``
    /// selects them. Equal differences of several answers are one, with the sum of their counts. The mask of a secret,
    /// `REDACTED`, fits every line.
    ///
    /// - Throws: `NetworkError.Code.contractFault` for a file that cannot be read, and for an archive without such an
    ///   answer.
    public func differences(
        inArchive file: URL, where isIncluded: (URL) -> Bool
    ) throws(NetworkError) -> [ContractDifference] {
        var sum: [ContractDifference: Int] = [:]
        for answer in try Contract.answers(in: file, where: isIncluded) {
            for var difference in differences(in: answer, mask: ExchangeMasking.mask) {
                let count = difference.count
                difference.count = 0
                sum[difference, default: 0] += count
            }
        }
        return sum.map { difference, count in
            var difference = difference
            difference.count = count
            return difference
        }.sorted()
    }

    private static func answers(in file: URL, where isIncluded: (URL) -> Bool) throws(NetworkError) -> [Data] {
        let entries = try HAR.read(file, "the archive \(file.path.quotedInFull)", or: .contractFault)
        let answers = entries.compactMap { entry -> Data? in
            let body = covers(entry.response.status) ? entry.response.content.data : Data()
            guard !body.isEmpty, let url = URL(string: entry.request.url), isIncluded(url) else { return nil }
            return body
        }
        guard !answers.isEmpty else {
            throw .contract("the archive \(file.path.quotedInFull) has no such answer with a 2xx status and a body")
        }
        return answers
    }
}
