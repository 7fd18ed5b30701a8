import SwitchboardText
import Testing

struct StatusTextTests {
    // https://www.iana.org/assignments/http-status-codes
    @Test(
        "each registered status has its phrase",
        arguments: [
            (208, "Already Reported"), (226, "IM Used"), (305, "Use Proxy"), (424, "Failed Dependency"),
            (506, "Variant Also Negotiates"), (507, "Insufficient Storage"), (508, "Loop Detected"),
            (510, "Not Extended"), (511, "Network Authentication Required"), (306, ""), (599, ""),
        ])
    func phrase(status: Int, phrase: String) {
        #expect(StatusText.phrase(for: status) == phrase)
    }
}
