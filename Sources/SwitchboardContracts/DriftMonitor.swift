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
/// It checks the 2xx answers of the listed endpoints that came from the server as a whole: no stream, no download and
/// nothing from a cache. The check runs as part of the call; an answer of 100 KB takes less than a millisecond. Each
/// difference is reported once. After that it is only counted, see ``reports``. A report has key paths and kinds. It
/// has no value, except for a new string of a set, which is masked as in logs.
public final class DriftMonitor: EventMonitor {
    /// A difference in the answers of an endpoint.
    public struct Report: Sendable, Hashable, CustomStringConvertible {
        /// The name of the endpoint, such as `MovieApi.popular`.
        public let endPoint: String
        /// The difference. Its count is that of all checked answers.
        public internal(set) var difference: ContractDifference

        /// Endpoint and difference on one line.
        public var description: String { "\(endPoint): \(difference)" }
    }

    private struct State {
        var reports: [Report] = []
        var numbers: [Report: Int] = [:]
        var answers: [String: Int] = [:]
    }

    private let contracts: [String: Contract]
    private let interval: Int
    private let maximumBodySize: Int
    private let redaction: Redaction
    private let report: @Sendable (Report) -> Void
    private let state = Protected(State())

    /// Creates a monitor.
    ///
    /// - Parameters:
    ///   - contracts: The contracts by the names of endpoints, as in `NetworkError.endPointName`: type and case.
    ///   - interval: Which answers of an endpoint are checked: the first one and each one after so many. Default 1,
    ///     which means all.
    ///   - maximumBodySize: The largest body that is checked, in bytes. Default 256 KiB.
    ///   - redaction: The rules for secrets.
    ///   - report: Called once for each difference, on any thread. The call waits for it, so return quickly.
    public init(
        _ contracts: [String: Contract], every interval: Int = 1, maximumBodySize: Int = 256 << 10,
        redaction: Redaction = .standard, report: @escaping @Sendable (Report) -> Void = { _ in }
    ) {
        self.contracts = contracts
        self.interval = max(1, interval)
        self.maximumBodySize = maximumBodySize
        self.redaction = redaction
        self.report = report
    }

    /// The largest number of reports. Later differences are not reported.
    public static let maximumCount = 500

    /// The differences so far with their counts, in the order in which they occurred first.
    public var reports: [Report] { state.withLock(\.reports) }

    /// Checks the answer of an exchange.
    public func record(_ event: CallEvent) {
        guard case .exchangeEnded(let record, let response?) = event.kind, (200..<300).contains(response.statusCode),
            let endPoint = record.request.endPointName, let contract = contracts[endPoint],
            !response.body.isEmpty, response.body.count <= maximumBodySize
        else { return }
        let number = state.withLock { state in
            state.answers[endPoint, default: 0] &+= 1
            return state.answers[endPoint, default: 1] - 1
        }
        guard number % interval == 0 else { return }
        let redaction = record.request.redaction(extending: redaction)
        for difference in contract.differences(in: response.body, redaction) {
            var found = Report(endPoint: endPoint, difference: difference)
            found.difference.count = 0
            if let new = add(found, count: difference.count) { report(new) }
        }
    }

    /// Counts a difference. Returns it the first time.
    private func add(_ report: Report, count: Int) -> Report? {
        state.withLock { state in
            if let number = state.numbers[report] {
                state.reports[number].difference.count += count
                return nil
            }
            guard state.reports.count < Self.maximumCount else { return nil }
            state.numbers[report] = state.reports.count
            var counted = report
            counted.difference.count = count
            state.reports.append(counted)
            return counted
        }
    }
}
