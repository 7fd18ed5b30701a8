import SwitchboardPlatform

extension NetworkResponse {
    /// The exchanges of the call as lines of text with bars on a common time axis. See ``history``.
    public var waterfall: String { history.waterfall() }
}

extension NetworkError {
    /// The exchanges of the call as lines of text with bars on a common time axis. See ``history``.
    public var waterfall: String { history.waterfall() }
}

extension [ExchangeRecord] {
    /// Returns the exchanges as lines of text. The width of each bar is the share of the total time. Below each line
    /// are the phases that the session measured:
    ///
    /// ```
    /// 1 GET https://api.example.com/a  HTTP 503   12 ms |###                 |
    /// 2 GET https://api.example.com/a  HTTP 200   31 ms |            ########|  retry after HTTP 503
    ///   connect 1 ms, first byte 30 ms, 17 bytes
    /// ```
    ///
    /// - Parameter width: The width of a bar in columns. Default 40, at least 10.
    /// - Returns: The lines, without secrets.
    public func waterfall(width: Int = 40) -> String {
        let width = Swift.max(10, Swift.min(width, 1_000))
        guard let end = map({ $0.start + $0.duration }).max() else { return "nothing was sent" }
        let names = map { "\($0.number) \($0.request)" }
        let outcomes = map { $0.outcome.description }
        let times = map { $0.duration.millisecondsText }
        let columns = [names, outcomes, times].map { $0.map(\.count).max() ?? 0 }
        func column(_ time: Duration) -> Int {
            end > .zero ? Swift.min(width, Int((time / end * Double(width)).rounded(.down))) : 0
        }
        var lines: [String] = []
        for (index, metrics) in enumerated() {
            let from = Swift.min(column(metrics.start), width - 1)
            let to = Swift.max(from + 1, column(metrics.start + metrics.duration))
            let bar = String(repeating: " ", count: from) + String(repeating: "#", count: to - from)
            let line =
                names[index].padded(to: columns[0]) + "  " + outcomes[index].padded(to: columns[1]) + "  "
                + String(repeating: " ", count: columns[2] - times[index].count) + times[index]
                + " |" + bar.padded(to: width) + "|" + (metrics.cause.map { "  \($0)" } ?? "")
            lines.append(line)
            if let phases = metrics.exchange?.phases { lines.append("  \(phases)") }
        }
        return lines.joined(separator: "\n")
    }
}

extension ExchangeMetrics {
    /// The measurements in words, or nil if no phase was measured.
    var phases: String? {
        let phases = [
            ("queue", queue), ("name", nameLookup), ("connect", connect), ("TLS", secureConnect),
            ("first byte", timeToFirstByte),
        ].compactMap { name, time in time.map { "\(name) \($0.millisecondsText)" } }
        guard !phases.isEmpty else { return nil }
        let reused = isReusedConnection == true ? ["connection reused"] : []
        return (phases + reused + ["\(bytesReceived) bytes"]).joined(separator: ", ")
    }
}

extension String {
    fileprivate func padded(to count: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, count - self.count))
    }
}
