/// Text in columns for a terminal.
package struct Table: Sendable {
    package struct Column: Sendable {
        let title: String
        /// The width in terminal cells. Wider text is cut.
        let width: Int
        let isNumber: Bool

        package init(_ title: String, width: Int, isNumber: Bool = false) {
            self.title = title
            self.width = width
            self.isNumber = isNumber
        }
    }

    let columns: [Column]
    package var rows: [[String]] = []

    package init(_ columns: Column...) {
        self.columns = columns
    }

    /// The table's lines: the column titles, then the rows.
    package var text: String {
        ([columns.map(\.title)] + rows).map(line).joined(separator: "\n")
    }

    private func line(_ cells: [String]) -> String {
        var line = zip(columns, cells).map { column, cell in
            cell.fitted(to: column.width, atEnd: column.isNumber)
        }.joined(separator: "  ")
        while line.hasSuffix(" ") { line.removeLast() }
        return line
    }
}

extension String {
    /// Returns the text cut or padded to `width` cells.
    fileprivate func fitted(to width: Int, atEnd: Bool) -> String {
        let cut = onOneLine.cut(to: width)
        let blanks = String(repeating: " ", count: width - cut.displayWidth)
        return atEnd ? blanks + cut : cut + blanks
    }
}

/// Returns `no movies`, `1 movie` or `2 movies`.
package func counted(_ number: Int, _ noun: String) -> String {
    "\(number == 0 ? "no" : "\(number)") \(noun)\(number == 1 ? "" : "s")"
}
