import Foundation
import Testing

@testable import Uploads

/// The server's own parsers, with examples from other sources.
struct ReaderTests {
    // The sums are Python's: `python3 -c 'import zlib; print(hex(zlib.adler32(b"Wikipedia")))'`.
    @Test(arguments: [("Wikipedia", 0x11E6_0398), ("", 1), ("abc", 0x024D_0127)] as [(String, UInt32)])
    func checksum(text: String, sum: UInt32) {
        #expect(adler32(text.utf8) == sum)
    }

    @Test func aFormIsReadAsServersDo() {
        let items = FormReader.items(of: Data("a=1+2&b=%26%3D&c&d=&caf%C3%A9=x%3Dy".utf8))
        #expect(items?.map(\.name) == ["a", "b", "c", "d", "café"])
        #expect(items?.map(\.content) == ["1 2", "&=", "", "", "x=y"])
    }

    @Test func anObjectIsReadByTheKindsOfItsMembers() {
        let items = JSONReader.items(of: Data(#"{"t":"5","n":5,"f":0.5,"b":true,"z":null}"#.utf8))
        #expect(
            items?.map { "\($0.name) \($0.kind) \($0.content)" } == [
                "b bool true", "f number 0.5", "n number 5", "t text 5", "z null ",
            ])
        #expect(JSONReader.items(of: Data("[1]".utf8)) == nil)
    }

    /// Reads a form in the format of RFC 7578, with a preamble and with bytes that resemble a boundary.
    @Test func aFormWithFilesIsReadPartByPart() {
        let body = [
            "preamble", "--AaB03x", "Content-Disposition: form-data; name=\"field1\"", "", "Joe Blow\r\n--AaB03",
            "--AaB03x", "Content-Disposition: form-data; name=\"pics\"; filename=\"file1.txt\"",
            "Content-Type: text/plain", "", "abc", "--AaB03x--", "",
        ].joined(separator: "\r\n")
        let items = PartReader.items(of: Data(body.utf8), contentType: "multipart/form-data; boundary=AaB03x")
        #expect(
            items?.map { "\($0.name) \($0.kind) \($0.content)" } == [
                "field1 text Joe Blow\r\n--AaB03", "pics file file1.txt, text/plain, 3 bytes, 024d0127",
            ])
    }

    @Test(arguments: ["", "--b", "--b\r\n\r\n", "--b\r\nX: y\r\n\r\nz\r\n--b--", "--b\r\n:\r\n\r\nz\r\n--b--", "--c--"])
    func whatIsNoFormIsRefused(body: String) {
        #expect(PartReader.items(of: Data(body.utf8), contentType: "multipart/form-data; boundary=b") == nil)
        #expect(PartReader.items(of: Data(body.utf8), contentType: "multipart/form-data") == nil)
    }
}
