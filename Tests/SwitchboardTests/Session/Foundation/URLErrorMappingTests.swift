import Foundation
@testable import Switchboard
import SwitchboardPlatform
import Testing

/// The errors of URLSession on Apple's systems, whose texts are in the user's language.
struct URLErrorMappingTests {
    private func map(_ code: URLError.Code, _ text: String) -> NetworkError {
        URLErrorMapping.networkError(URLError(code, userInfo: [NSLocalizedDescriptionKey: text]), quirks: .apple)
    }

    @Test("neither code nor reason come from a localized text")
    func localizedTexts() {
        let lost = map(.networkConnectionLost, "Echec: could not resolve, certificate, chunk")
        #expect(lost.code == .connectionLost && lost.reason == "URLSession error -1005")
        #expect(map(.unknown, "SSL").code == .unknown)
        #expect(map(.cannotFindHost, "Es wurde kein Server gefunden.").reason == "URLSession error -1003")
    }

    @Test("a response above URLSession's maximum is responseTooLarge")
    func tooLarge() {
        #expect(map(.dataLengthExceedsMaximum, "").code == .responseTooLarge)
    }

    @Test("a refusal by App Transport Security is insecureConnection with advice")
    func transportSecurity() {
        let error = map(.appTransportSecurityRequiresSecureConnection, "")
        #expect(error.code == .insecureConnection && error.reason?.contains("Info.plist") == true)
    }

    @Test(
        "a POSIX error of a broken connection is connectionLost",
        arguments: [NSPOSIXErrorDomain, "kNWErrorDomainPOSIX"])
    func brokenConnections(domain: String) {
        func code(_ number: Int32, in domain: String) -> NetworkError.Code {
            URLErrorMapping.networkError(NSError(domain: domain, code: Int(number)), quirks: .apple).code
        }
        for number in [ECONNABORTED, ECONNRESET, ENOTCONN, EPIPE] {
            #expect(code(number, in: domain) == .connectionLost)
        }
        #expect(code(ENOSPC, in: domain) == .unknown && code(ECONNRESET, in: "other") == .unknown)
    }
}
