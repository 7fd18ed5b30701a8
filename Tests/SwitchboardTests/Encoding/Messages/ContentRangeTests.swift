import Switchboard
import Testing

/// Values are those of RFC 9110 §14.4, or break its rules.
struct ContentRangeTests {
    @Test(
        "a Content-Range is parsed and written as RFC 9110 §14.4 specifies",
        arguments: [
            ("bytes 42-1233/1234", ContentRange(42...1233, of: 1234)),
            ("bytes 42-1233/*", ContentRange(42...1233, of: nil)),
            ("bytes */1234", ContentRange(nil, of: 1234)), ("bytes 0-0/1", ContentRange(0...0, of: 1)),
        ])
    func valid(text: String, range: ContentRange) {
        #expect(ContentRange(text) == range)
        #expect(range.description == text)
    }

    @Test(
        "an invalid Content-Range, or one not in bytes, parses as nil",
        arguments: [
            "", "bytes", "bytes 0-1", "bytes */*", "items 0-1/2", "bytes 2-1/3", "bytes 0-3/3", "bytes -1-1/3",
            "bytes 0-/3",
            "bytes 0-1/3 x", "bytes +0-1/3", "bytes 0-99999999999999999999/*", "bytes 0-1/2/3", "bytes=0-1/3",
            "bytes 0-1-2/3",
        ])
    func invalid(text: String) {
        #expect(ContentRange(text) == nil)
    }
}
