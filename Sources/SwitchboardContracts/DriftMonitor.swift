import Foundation
import Switchboard
import SwitchboardPlatform

/// Reports the differences between the answers that an app receives and their contracts. No call fails.
///
/// ```swift
/// let contract = try Contract(contentsOf: file)
/// let drift = DriftMonitor(["MovieApi.popular": contract]) { report in
///     print(report)
/// }
/// let manager = NetworkManager(monitors: [drift])
/// ```
///
/// It checks the 2xx answers of the listed endpoints whose whole body came from the server: no stream, no download, no
/// 206, no empty body and no cache hit. The check runs as part of the call. An answer of 100 KB takes less than a
/// millisecond. Each difference is reported once, and then only counted in ``reports``. A report has key paths and
/// kinds. It has no value of an answer, except for a new string of a set, which is masked as in logs.
public final class DriftMonitor: EventMonitor {
    /// A difference in the answers of an endpoint.
    public struct Report: Sendable, Hashable, CustomStringConvertible {
        /// The name of the endpoint, such as `MovieApi.popular`.
        public let endPoint: String
        /// The difference. Its count covers the first answer that had it, and in ``reports`` all answers.
        public internal(set) var difference: ContractDifference

        /// Endpoint and difference on one line.
        public var description: String { "\(endPoint): \(difference)" }
    }

    private struct State {
        var reports: [Report] = []
        /// The index of each report, by the report with a count of 0.
        var numbers: [Report: Int] = [:]
        var answers: [String: Int] = [:]
    }

    private let contracts: [String: Contract]
    private let interval: Int
    private let bodyLimit: Int
    private let redaction: Redaction
    private let report: @Sendable (Report) -> Void
    private let state = Protected(State())

    /// Creates a monitor.
    ///
    /// - Parameters:
    ///   - contracts: The contracts by the names of endpoints, as in `NetworkError.endPointName`: type and case.
    ///   - interval: Checks every n-th answer of an endpoint, beginning with the first. Default 1, which checks each
    ///     answer. Smaller values count as 1.
    ///   - bodyLimit: The largest body that is checked, in bytes. A larger one is not checked. Default 256 KiB.
    ///   - redaction: The names of secrets, whose strings are masked in reports.
    ///   - report: Called once for each difference, on any thread. The call waits for it, so return quickly. Default
    ///     none, for an app that reads ``reports``.
    public init(
        _ contracts: [String: Contract], every interval: Int = 1, bodyLimit: Int = 256 << 10,
        redaction: Redaction = .standard, report: @escaping @Sendable (Report) -> Void = { _ in }
    ) {
        self.contracts = contracts
        self.interval = max(1, interval)
        self.bodyLimit = max(0, bodyLimit)
        self.redaction = redaction
        self.report = report
    }

    /// The largest number of differences that are reported. Others are neither reported nor counted.
    public static let maximumCount = 500

    /// The differences so far with their counts, in the order of their first occurrence.
    public var reports: [Report] { state.withLock(\.reports) }

    /// Checks the answer of an exchange.
    public func record(_ event: CallEvent) {
        guard case .exchangeEnded(let record, let response?) = event.kind, Contract.covers(response.statusCode),
            let endPoint = record.request.endPointName, let contract = contracts[endPoint],
            !response.body.isEmpty, response.body.count <= bodyLimit
        else { return }
        let number = state.withLock { state in
            defer { state.answers[endPoint, default: 0] += 1 }
            return state.answers[endPoint, default: 0]
        }
        guard number % interval == 0 else { return }
        let redaction = record.request.redaction(extending: redaction)
        for difference in contract.differences(in: response.body, redaction) {
            let found = Report(endPoint: endPoint, difference: difference)
            if add(found) { report(found) }
        }
    }

    /// Adds the count of a difference. Returns whether the difference is new.
    private func add(_ found: Report) -> Bool {
        var key = found
        key.difference.count = 0
        return state.withLock { [key] state in
            if let number = state.numbers[key] {
                state.reports[number].difference.count += found.difference.count
                return false
            }
            guard state.reports.count < Self.maximumCount else { return false }
            state.numbers[key] = state.reports.count
            state.reports.append(found)
            return true
        }
    }
}
