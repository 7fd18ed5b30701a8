import ExampleKit
import Foundation

/// The commands of the program.
enum Command: String, CommandWord {
    case tour, list, headers, show, add

    static let help = Help<Command>(
        "users",
        """
        Asks a server of users: a small one inside this program, unless --server names
        another. It starts anew each time, so nobody who was added stays.
        """)

    var usage: Usage {
        switch self {
        case .tour:
            Usage(
                "all of it, one after the other (the default)",
                details: """
                    Lists the users, shows the answer's headers and the second page, asks for a
                    user who is not there, adds one, and saves a picture.
                    """)
        case .list:
            Usage("the users, six on a page", options: [.page], details: "Lists the users, six on a page.")
        case .headers:
            Usage("the headers of the list's answer", details: "Shows the headers of the list's answer.")
        case .show:
            Usage(
                "one user, the picture into a file", operands: "ID", options: [.output],
                details: "Shows the user with that ID, and saves the picture with --output.")
        case .add:
            Usage(
                "a new user", operands: "NAME JOB",
                details: "Adds a user: users add 'Ivy Quill' lamplighter")
        }
    }

    /// Runs the command and returns the text to show.
    func perform(_ words: Words, with service: UserService) async throws -> String {
        var words = words
        switch self {
        case .tour:
            try words.checkEnd(of: self)
            return try await Tour(service: service).text()
        case .list:
            let page = try words.page
            try words.checkEnd(of: self)
            return Report.of(try await service.users(page: page))
        case .headers:
            try words.checkEnd(of: self)
            return Report.of(try await service.headers())
        case .show:
            let id = try words.takeID(of: "a user", for: self)
            let file = try words.output
            try words.checkEnd(of: self)
            let user = try await service.user(id)
            guard let file else { return Report.of(user) }
            try await service.saveAvatar(of: user, to: file)
            return Report.of(user) + "\nsaved the picture as \(file.path)"
        case .add:
            let name = try words.takeText("NAME and JOB", for: self)
            let job = try words.takeText("NAME and JOB", for: self)
            try words.checkEnd(of: self)
            return Report.of(try await service.add(NewUser(name: name, job: job)))
        }
    }
}
