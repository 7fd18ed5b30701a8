#if os(Linux)
@testable import SwitchboardCurl
import Testing

struct CurlOptionsTests {
    @Test(
        "without the system's authorities, no version searches its folder",
        arguments: [(0x07_58_01, nil), (0x08_14_01, nil), (0x08_15_00, "/dev/null"), (0x09_00_00, "/dev/null")]
            as [(UInt32, String?)])
    func noFolder(version: UInt32, expected: String?) {
        #expect(CurlOptions.noFolder(version) == expected)
    }
}
#endif
