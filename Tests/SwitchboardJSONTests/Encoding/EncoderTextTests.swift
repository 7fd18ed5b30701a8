import Foundation
import SwitchboardJSON
import Testing

struct EncoderTextTests {
    @Test("an object has its members in declared order")
    func order() throws {
        struct Paging: Encodable { var page = 0, number = 10 }
        #expect(String(decoding: try FastJSONEncoder().encode(Paging()), as: UTF8.self) == #"{"page":0,"number":10}"#)
    }
}
