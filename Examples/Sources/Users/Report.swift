import ExampleKit
import Foundation
import Switchboard

/// Formats the program's output.
enum Report {
    static func of(_ page: UserPage) -> String {
        var table = Table(
            .init("ID", width: 4, isNumber: true), .init("Name", width: 24), .init("Email", width: 40))
        table.rows = page.data.map { ["\($0.id)", $0.name, $0.email] }
        return "\(table.text)\n\npage \(page.page) of \(page.totalPages), \(counted(page.total, "user"))"
    }

    static func of(_ headers: HTTPHeaders) -> String {
        headers.map { "\($0.name): \($0.value)".onOneLine.cut(to: 79) }.joined(separator: "\n")
    }

    static func of(_ user: User) -> String {
        "user \(user.id) is \(user.name), \(user.email)".onOneLine
    }

    static func of(_ user: AddedUser) -> String {
        let date = user.createdAt.formatted(.iso8601)
        return "added \(user.name), \(user.job), as user \(user.id) on \(date)".onOneLine
    }
}
