import Foundation
import Switchboard
import SwitchboardHAR

/// An entry of the file, with its request prepared for comparison.
struct CassetteEntry: Sendable {
    let entry: HAR.Entry
    let request: ComparedRequest

    init(_ entry: HAR.Entry, _ redactor: HARRedactor) {
        var redactor = redactor
        self.entry = entry
        request = ComparedRequest(redactor.masked(entry.request))
    }
}
