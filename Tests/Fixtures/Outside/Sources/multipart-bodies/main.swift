import Foundation
import Switchboard

// multipart-bodies N SEED FOLDER: writes N forms as they are sent, and forms.json with their types and parts.
let arguments = CommandLine.arguments
guard arguments.count == 4, let count = Int(arguments[1]), let seed = UInt64(arguments[2]) else {
    print("usage: multipart-bodies N SEED FOLDER")
    exit(64)
}
let folder = URL(fileURLWithPath: arguments[3])
var forms: [Form] = []
for number in 0..<count {
    var maker = FormMaker(seed: seed &+ UInt64(number), folder: folder, number: number)
    forms.append(try await maker.write())
}
let encoder = JSONEncoder()
encoder.outputFormatting = [.sortedKeys]
try encoder.encode(forms).write(to: folder.appendingPathComponent("forms.json"))
