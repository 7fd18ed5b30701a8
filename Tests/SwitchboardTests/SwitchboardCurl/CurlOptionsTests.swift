#if os(Linux)
@testable import SwitchboardCurl
import Foundation
import SwitchboardCurlC
import Testing

struct CurlOptionsTests {
    @Test(
        "without the system's authorities, no version searches its folder",
        arguments: [(0x07_58_01, nil), (0x08_14_01, nil), (0x08_15_00, "/dev/null"), (0x09_00_00, "/dev/null")]
            as [(UInt32, String?)])
    func noFolder(version: UInt32, expected: String?) {
        #expect(CurlOptions.noFolder(version) == expected)
    }

    @Test("libcurl has a quick exit of all its transfers from 8.20 on")
    func quickExit() throws {
        let hasOption = CurlLibrary.version >= 0x08_14_00
        let multi = try #require(swcurl_multi_make())
        defer { swcurl_multi_free(multi) }
        let code = swcurl_multi_set_long(multi, CurlMultiOption.quickExit, 1)
        #expect((code == 0) == hasOption)
    }

    @Test("additional authorities join those of the system's file", arguments: [true, false])
    func bundle(trustsSystem: Bool) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("system".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var tls = CurlOptions.TLS()
        tls.trustsSystem = trustsSystem
        #expect(tls.bundle(replacing: file.path) == nil)
        tls.authorities = Data("own\n".utf8)
        #expect(tls.bundle(replacing: file.path) == Data((trustsSystem ? "own\nsystem" : "own\n").utf8))
        for missing in [nil, file.path + "-missing"] {
            #expect(tls.bundle(replacing: missing) == Data("own\n".utf8))
        }
    }
}
#endif
