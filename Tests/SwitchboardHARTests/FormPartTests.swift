import Foundation
import Switchboard
import SwitchboardHAR
import SwitchboardTestSupport
import Testing

struct FormPartTests {
    @Test(
        "an archive masks a form part, whatever the spelling of its name",
        .requirement("S3.14"),
        arguments: [
            "; name=\"password\"", "; name=password", ";\r\n\tname=\"password\"", ";\r\n filename=a;\r\n name=password",
            "; name*=UTF-8''pass%77ord", "; name=a; name*=UTF-8''password",
        ])
    func parts(disposition: String) {
        func form(_ value: String) -> String {
            "--b\r\nContent-Disposition: form-data\(disposition)\r\n\r\n\(value)\r\n--b\r\n"
                + "Content-Disposition: form-data; name=title\r\n\r\nAlien\r\n--b--\r\n"
        }
        var masking = ExchangeMasking(.standard)
        let masked = masking.masked(body: Data(form("hunter2").utf8), type: "multipart/form-data; boundary=b")
        #expect(String(decoding: masked, as: UTF8.self) == form(ExchangeMasking.mask))
    }

    @Test(
        "an archive masks a body that is not the form it should be", .requirement("S3.14"),
        arguments: [
            "--b\nContent-Disposition: form-data; name=\"password\"\n\nhunter2\n--b--\n", #"{"password":"hunter2"}"#,
            "password=hunter2\r\n--b\r\n\r\ntext\r\n--b--\r\npassword=hunter2", "--b\r\npassword=hunter2\r\n--b--\r\n",
        ])
    func malformed(body: String) {
        var masking = ExchangeMasking(.standard)
        let masked = masking.masked(body: Data(body.utf8), type: "multipart/form-data; boundary=b")
        let expected = body.replacingOccurrences(of: "hunter2", with: ExchangeMasking.mask)
        #expect(String(decoding: masked, as: UTF8.self) == expected)
    }

    @Test(
        "an archive masks the whole value of a form part", .requirement("S3.14"),
        arguments: [("\n", "hun\r\n\r\nter2"), ("\r\n", "hun\n\nter2"), ("\r\n", "hun--bter2")])
    func wholeValue(lineEnd: String, value: String) {
        func form(_ value: String) -> String {
            ["--b", "Content-Disposition: form-data; name=\"password\"", "", value, "--b--", ""]
                .joined(separator: lineEnd)
        }
        var masking = ExchangeMasking(.standard)
        let masked = masking.masked(body: Data(form(value).utf8), type: "multipart/form-data; boundary=b")
        #expect(String(decoding: masked, as: UTF8.self) == form(ExchangeMasking.mask))
    }

    @Test("the bytes around a separator are found, also in repetitive data")
    func pieces() {
        func pieces(_ text: String, _ separator: String) -> [String] {
            Data(text.utf8).pieces(around: Data(separator.utf8)).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(pieces("a--b--c", "--") == ["a", "b", "c"])
        #expect(pieces("aaab", "aab") == ["a", ""])
        #expect(pieces("abababac", "abac") == ["abab", ""])
        #expect(pieces("aaaaa", "aa") == ["", "", "a"])
        #expect(pieces("", "a") == [""] && pieces("a", "") == ["a"] && pieces("a", "ab") == ["a"])
    }
}
