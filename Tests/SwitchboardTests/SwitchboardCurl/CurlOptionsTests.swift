#if os(Linux)
@testable import Switchboard
@testable import SwitchboardCurl
import Foundation
import SwitchboardCurlC
import SwitchboardTestSupport
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

    @Test("additional authorities join the system's file if its folder has none", arguments: [true, false])
    func bundle(trustsSystem: Bool) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("bundle.crt").path
            try Data("system".utf8).write(to: URL(fileURLWithPath: file))
            var tls = CurlOptions.TLS()
            tls.trustsSystem = trustsSystem
            #expect(try tls.bundle(replacing: file, folder: nil) == nil)
            let own = Data("own\n".utf8)
            tls.authorities = own
            let joined = trustsSystem ? own + Data("system".utf8) : own
            #expect(try tls.bundle(replacing: file, folder: nil) == joined)
            #expect(try tls.bundle(replacing: file, folder: folder.path) == joined)
            for missing in [nil, file + "-missing"] {
                #expect(try tls.bundle(replacing: missing, folder: nil) == own)
            }
            try Data().write(to: folder.appendingPathComponent("0a0b0c0d.0"))
            #expect(try tls.bundle(replacing: file, folder: folder.path) == own)
        }
    }

    @Test("a file of the system's authorities that cannot be read is an error")
    func unreadableBundle() async throws {
        try await withFolder { folder in
            var tls = CurlOptions.TLS()
            tls.authorities = Data("own\n".utf8)
            let failure = #expect(throws: CurlFailure.self) { try tls.bundle(replacing: folder.path, folder: nil) }
            let error = failure?.networkError(of: NetworkRequest(.get, nil), isHeadComplete: false)
            #expect(error?.code == .insecureConnection)
            #expect(error?.reason?.contains(folder.lastPathComponent) == true)
        }
    }

    #if compiler(>=6.2)
    @Test("without a free descriptor, the system's authorities are an error")
    func bundleWithoutDescriptors() async {
        await #expect(processExitsWith: .success) {
            try await withFolder { folder in
                let file = folder.appendingPathComponent("bundle.crt").path
                try Data("system".utf8).write(to: URL(fileURLWithPath: file))
                var tls = CurlOptions.TLS()
                tls.authorities = Data("own\n".utf8)
                try await withoutDescriptors {
                    let failure = #expect(throws: CurlFailure.self) { try tls.bundle(replacing: file, folder: nil) }
                    let error = failure?.networkError(of: NetworkRequest(.get, nil), isHeadComplete: false)
                    #expect(error?.code == .cannotConnect)
                    #expect(error?.reason?.contains("bundle.crt") == true)
                }
            }
        }
    }
    #endif

    @Test("before 7.84, a usual file has the system's authorities")
    func usualAuthorities() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("bundle.crt").path
            try Data("system".utf8).write(to: URL(fileURLWithPath: file))
            let files = [file + "-missing", file, "/dev/null"]
            let old = CurlOptions.usualAuthorities(0x07_53_01, among: files)
            #expect(old.file == file && old.folder == "/etc/ssl/certs")
            #expect(CurlOptions.usualAuthorities(0x07_53_01, among: []).file == nil)
            let new = CurlOptions.usualAuthorities(0x07_54_00, among: files)
            #expect(new.file == nil && new.folder == nil)
        }
    }
}
#endif
