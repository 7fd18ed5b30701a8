import Switchboard

/// Draws the progress of a transfer on one line of a terminal.
package struct ProgressBar: Sendable {
    /// The width of the whole line, in terminal cells.
    package var width: Int

    package init(width: Int = 79) {
        self.width = width
    }

    /// Returns `[#######             ]  35 %  184 of 526 KB  1200 KB/s`, cut to the width.
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

    /// Returns the line with the control characters that replace the previous one.
    package func frame(_ update: TransferProgress.Update) -> String {
        "\r\(text(update))\u{1B}[K"
    }

    /// The control characters that clear the line.
    package static let end = "\r\u{1B}[K"

    /// Converts bytes to kilobytes, rounded up so that one byte does not become zero.
    package static func kilobytes(_ bytes: Int64) -> Int64 { (bytes + 999) / 1_000 }
}
