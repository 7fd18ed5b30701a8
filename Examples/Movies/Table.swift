/// Text in columns, for a terminal.
struct Table {
    struct Column {
        let title: String
        /// In terminal cells. Text that is wider is cut.
        let width: Int
        var isNumber = false
    }

    let columns: [Column]
    var rows: [[String]] = []

    /// The table's lines: the titles, then the rows.
    var text: String {
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
    /// This text cut or filled with blanks to `width` cells.
    fileprivate func fitted(to width: Int, atEnd: Bool) -> String {
        let cut = onOneLine.cut(to: width)
        let blanks = String(repeating: " ", count: width - cut.displayWidth)
        return atEnd ? blanks + cut : cut + blanks
    }
}
