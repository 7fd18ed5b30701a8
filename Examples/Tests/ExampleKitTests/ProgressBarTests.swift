import ExampleKit
import Switchboard
import Testing

struct ProgressBarTests {
    @Test func theBarFitsItsLine() {
        let bar = ProgressBar()
        #expect(
            bar.text(.init(completed: 250_000, expected: 1_000_000, rate: 125_000))
                == "[##########                              ]  25 %  250 of 1000 KB  125 KB/s")
        #expect(bar.text(.init(completed: 1_500, rate: nil)) == "2 KB")
        #expect(bar.text(.init(completed: 0, expected: 0)).contains("100 %"))
        for width in 1...60 {
            let text = ProgressBar(width: width).text(.init(completed: 1 << 60, expected: 1 << 61, rate: 1e12))
            #expect(text.count <= width, "\(text)")
        }
    }
}
