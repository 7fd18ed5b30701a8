import ExampleKit
import Testing

struct TableTests {
    @Test(arguments: [
        ("Amber", 5), ("", 0), ("Zażółcone", 9), ("e\u{301}", 1), ("七つの青い電話", 14), ("유리", 4), ("虫 🐛", 5), ("👩‍🚀", 2),
        ("🇵🇱", 2),
        ("❤️", 2), ("ＡＢ", 4), ("\u{200B}", 0),
    ])
    func textTakesAsManyCellsAsTheTerminalGivesIt(text: String, width: Int) {
        #expect(text.displayWidth == width)
    }

    @Test(arguments: [
        ("Almanac", 7, "Almanac"), ("Almanac", 6, "Alman…"), ("電話電話", 6, "電話…"), ("電話電話", 7, "電話電…"), ("ab", 1, "…"),
    ])
    func textIsCutToFit(text: String, width: Int, cut: String) {
        #expect(text.cut(to: width) == cut)
        #expect(cut.displayWidth <= width)
    }

    @Test func textCannotBreakTheLineOrMoveTheCursor() {
        #expect("a\r\nb\u{1B}[2J\u{202E}c\u{2028}d\u{85}e".onOneLine == "a  b [2Jc d e")
    }

    @Test func columnsLineUp() {
        var table = Table(.init("#", width: 3, isNumber: true), .init("Name", width: 6))
        table.rows = [["1", "電話"], ["22", "Cartographer"], ["333", "a\nb"]]
        #expect(table.text == "  #  Name\n  1  電話\n 22  Carto…\n333  a b")
    }
}
