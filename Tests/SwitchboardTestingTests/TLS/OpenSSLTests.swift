import SwitchboardPlatform
import Switchboard
@testable import SwitchboardMocks
import Testing

struct OpenSSLTests {
    @Test func aLibraryThatIsNotThereIsNamed() {
        let error = #expect(throws: DynamicLibrary.Failure.self) {
            try OpenSSL(firstOf: ["libno-such.so.3", "libnor.so"])
        }
        #expect(error?.text == "libno-such.so.3 was not found")
    }

    @Test func withoutTheLibraryTLSIsUnsupported() {
        let error = #expect(throws: NetworkError.self) { try OpenSSL.load(.failure(.init(text: "it is gone"))) }
        #expect(error?.code == .unsupported)
        #expect(error?.reason == "MockServer: TLS needs OpenSSL, and it is gone")
    }

    #if canImport(Glibc)
    @Test func aLibraryWithoutTheFunctionsIsNotUsed() {
        let error = #expect(throws: DynamicLibrary.Failure.self) { try OpenSSL(firstOf: ["libm.so.6"]) }
        #expect(error?.text == "libm.so.6 has no EVP_PKEY_CTX_new_id")
    }
    #endif
}
