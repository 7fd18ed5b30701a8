import ExampleKit
import Foundation
import Switchboard

/// Makes every kind of upload in sequence.
struct Tour {
    let service: UploadService
    let console: Console

    func text() async throws -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("uploads-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let picture = folder.appendingPathComponent("picture.bmp")
        let note = folder.appendingPathComponent("note.txt")
        try Bitmap.bytes(width: 320, height: 200) { column, row in (column * 255 / 319, row, 128) }.write(to: picture)
        try Data("Tea at four.\n".utf8).write(to: note)
        let form = MultipartBody(.field("title", "Holiday"), .file("photo", picture), .file("note", note))
        return """
            An object:
            \(Report.of(try await service.send(json: ["title": "Holiday", "stars": 5, "seen": true, "by": nil as String?])))

            A form:
            \(Report.of(try await service.send(form: ["greeting": "Hello, ", "target": "🌎"])))

            A form with files:
            \(try await console.send(form, with: service))

            A file:
            \(Report.of(try await service.send(file: picture)))

            A file that is not there:
            \(try await refusal())
            """
    }

    private func refusal() async throws -> String {
        do {
            return Report.of(try await service.send(file: URL(fileURLWithPath: "/nowhere/at/all.txt")))
        } catch let failure as Failure where failure.exitCode == .noInput {
            return failure.message
        }
    }
}
