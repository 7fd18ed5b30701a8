import Switchboard

/// A line that says how far a transfer is, drawn over itself.
package struct ProgressBar: Sendable {
    /// The cells of the whole line.
    package var width: Int

    package init(width: Int = 79) {
        self.width = width
    }

    /// `[#######             ]  35 %  184 of 526 KB  1200 KB/s`, never wider than the line.
    package func text(_ update: TransferProgress.Update) -> String {
        let rate = update.rate.map { "  \(Int($0) / 1_000) KB/s" } ?? ""
        guard let fraction = update.fraction, let expected = update.expected else {
            return "\(Self.kilobytes(update.completed)) KB\(rate)".cut(to: width)
        }
        let figures =
            "\(Int(fraction * 100)) %  \(Self.kilobytes(update.completed)) of \(Self.kilobytes(expected)) KB\(rate)"
        let room = min(40, width - figures.count - 4)
        guard room > 4 else { return figures.cut(to: width) }
        let full = Int(Double(room) * fraction)
        return "[\(String(repeating: "#", count: full))\(String(repeating: " ", count: room - full))]  \(figures)"
    }

    /// What a terminal makes of the line: over the one before, and nothing left of that.
    package func frame(_ update: TransferProgress.Update) -> String {
        "\r\(text(update))\u{1B}[K"
    }

    /// Wipes the line.
    package static let end = "\r\u{1B}[K"

    /// Rounded up: a file of one byte is not nothing.
    package static func kilobytes(_ bytes: Int64) -> Int64 { (bytes + 999) / 1_000 }
}
