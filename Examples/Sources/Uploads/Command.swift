import ExampleKit
import Foundation
import Switchboard

/// The commands of the program.
enum Command: String, CommandWord {
    case tour, json, form, multipart, file

    static let help = Help<Command>(
        "uploads",
        """
        Sends things to a server that says what it understood: a small one inside this
        program, unless --server names another.
        """, moreExitCodes: "; 66 unreadable file")

    var usage: Usage {
        switch self {
        case .tour:
            Usage(
                "all of it, one after the other (the default)",
                details: """
                    Sends an object, a form, a form with two files, a file, and one that is not
                    there.
                    """)
        case .json:
            Usage(
                "an object", operands: "FIELD...",
                details: """
                    Sends fields, each NAME=VALUE, as JSON. Numbers, true, false and null are what
                    they look like: uploads json title=Holiday stars=5
                    """)
        case .form:
            Usage(
                "a form", operands: "FIELD...",
                details: """
                    Sends fields, each NAME=VALUE, as a form:
                    uploads form 'greeting=Hello, ' target=🌎
                    """)
        case .multipart:
            Usage(
                "a form with files", operands: "FIELD...", options: [.skip],
                details: """
                    Sends fields, each NAME=VALUE, as a form with files, with a bar on a terminal.
                    A value that begins with @ is a file:
                    uploads multipart title=Holiday photo=@beach.jpg
                    """)
        case .file:
            Usage("a file as it is", operands: "FILE", details: "Sends a file as it is, with a bar on a terminal.")
        }
    }

    /// Runs the command and returns the text to show.
    func perform(_ words: Words, with service: UploadService, _ console: Console) async throws -> String {
        var words = words
        switch self {
        case .tour:
            try words.checkEnd(of: self)
            return try await Tour(service: service, console: console).text()
        case .json:
            let fields = try words.takeFields(for: self)
            return Report.of(try await service.send(json: Parameters(fields.map { ($0.name, $0.json) })))
        case .form:
            let fields = try words.takeFields(for: self)
            return Report.of(try await service.send(form: Parameters(fields.map { ($0.name, $0.value) })))
        case .multipart:
            let fields = try words.takeFields(for: self)
            let form = MultipartBody(fields.map(\.part), skipsUnreadableFiles: words.has(.skip))
            return try await console.send(form, with: service)
        case .file:
            let file = URL(fileURLWithPath: try words.takeText("a FILE", for: self))
            try words.checkEnd(of: self)
            let progress = TransferProgress()
            let receipt = try await console.withBar(for: progress) {
                try await service.send(file: file, progress: progress)
            }
            return Report.of(receipt, progress)
        }
    }
}

extension Console {
    /// Sends a form with files, draws a progress bar and reports skipped files.
    func send(_ form: MultipartBody, with service: UploadService) async throws -> String {
        let progress = TransferProgress()
        let receipt = try await withBar(for: progress) { try await service.send(form, progress: progress) }
        let skipped = form.failedFiles.map { "left out, because it cannot be read: \($0)".onOneLine }
        return ([Report.of(receipt, progress)] + skipped).joined(separator: "\n")
    }
}

extension Option {
    static let skip = Option("--skip", help: "leave out files that cannot be read")
}

extension Words {
    fileprivate mutating func takeFields(for command: Command) throws(Failure) -> [Field] {
        var fields = [try Field(takeText("NAME=VALUE", for: command))]
        while !operands.isEmpty { fields.append(try Field(takeText("NAME=VALUE", for: command))) }
        return fields
    }
}
