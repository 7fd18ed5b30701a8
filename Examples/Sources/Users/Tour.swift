import ExampleKit
import Foundation

/// Runs the flows of the article about a small REST client in sequence.
struct Tour {
    let service: UserService

    func text() async throws -> String {
        """
        The users:
        \(Report.of(try await service.users(page: 1)))

        The headers of that answer:
        \(Report.of(try await service.headers()))

        The second page:
        \(Report.of(try await service.users(page: 2)))

        User 100:
        \(try await nobody())

        A new user:
        \(Report.of(try await service.add(NewUser(name: "Ivy Quill", job: "lamplighter"))))

        User 2:
        \(try await picture())
        """
    }

    private func nobody() async throws -> String {
        do {
            return Report.of(try await service.user(100))
        } catch let failure as Failure where failure.exitCode == .refused {
            return failure.message
        }
    }

    private func picture() async throws -> String {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("avatar-\(UUID().uuidString).bmp")
        defer { try? FileManager.default.removeItem(at: file) }
        let user = try await service.user(2)
        try await service.saveAvatar(of: user, to: file)
        let (saved, inMemory) = (try Data(contentsOf: file), try await service.avatar(of: user))
        let verdict = saved == inMemory ? "the same" : "not the same"
        return "\(Report.of(user))\nThe picture has \(saved.count) bytes in a file, \(verdict) as in memory."
    }
}
