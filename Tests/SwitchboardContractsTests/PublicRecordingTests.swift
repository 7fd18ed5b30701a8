import Foundation
import Switchboard
import SwitchboardContracts
import Testing

/// Notifications of the GitHub API of 2018, as recorded for the tests of github3.py, a Python package. The script
/// `scripts/oracles/with-httpbin` fetches them.
private enum Recording {
    static let folder = ProcessInfo.processInfo.environment["SWITCHBOARD_RECORDINGS"]

    static var file: URL {
        get throws { URL(fileURLWithPath: try #require(folder)).appendingPathComponent("GitHub_all_notifications.har") }
    }

    static func isNotifications(_ url: URL) -> Bool { url.path == "/notifications" }

    /// The recorded list.
    static func notifications() throws -> [[String: Any]] {
        let archive = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        let entries = try #require((archive["log"] as? [String: Any])?["entries"] as? [[String: Any]])
        let content = try #require((entries.first?["response"] as? [String: Any])?["content"] as? [String: Any])
        let text = try #require(content["text"] as? String)
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    }

    static func data(_ object: Any) throws -> Data { try JSONSerialization.data(withJSONObject: object) }
}

/// A change of the API, planted in the last notification of the recording.
private struct Change: CustomTestStringConvertible, Sendable {
    let name: String
    /// The path of the changed member.
    let path: [String]
    /// The JSON of the new value, or nil for no member.
    let value: String?
    let differences: [String]

    var testDescription: String { name }

    func changed(_ notification: [String: Any]) throws -> [String: Any] {
        try changed(notification, path[...])
    }

    private func changed(_ object: [String: Any], _ path: ArraySlice<String>) throws -> [String: Any] {
        var object = object
        let name = try #require(path.first)
        if path.count > 1 {
            object[name] = try changed(try #require(object[name] as? [String: Any]), path.dropFirst())
        } else {
            object[name] = try value.map {
                try JSONSerialization.jsonObject(with: Data($0.utf8), options: .fragmentsAllowed)
            }
        }
        return object
    }

    init(_ name: String, _ path: String, _ value: String?, _ differences: String...) {
        self.name = name
        self.path = path.split(separator: ".").map(String.init)
        self.value = value
        self.differences = differences
    }

    static let all = [
        Change("an identifier becomes a number", "id", "300033598", "[].id: was string, is integer"),
        Change("a flag becomes null", "unread", "null", "[].unread: was boolean, is null"),
        Change(
            "a date loses its time", "updated_at", "\"2018-02-04\"", "[].updated_at: was date-time, is date"),
        Change(
            "a nullable date is left out", "last_read_at", nil,
            "[].last_read_at: was date-time | null, is no member"),
        Change(
            "a type has a new value", "subject.type", "\"Discussion\"",
            "[].subject.type: was \"Issue\" | \"PullRequest\", is \"Discussion\""),
        Change(
            "a URL becomes null", "subject.latest_comment_url", "null",
            "[].subject.latest_comment_url: was url, is null"),
        Change(
            "a number becomes a string", "repository.id", "\"MDEwOlJlcG9zaXRvcnk1MzUyNjY=\"",
            "[].repository.id: was integer, is string"),
        Change(
            "an object becomes its name", "repository.owner", "\"vcr\"", "[].repository.owner: was object, is string"),
        Change(
            "a member is removed", "repository.owner.html_url", nil,
            "[].repository.owner.html_url: was url, is no member"),
        Change(
            "a member is added", "repository.node_id", "\"MDEwOlJlcG9zaXRvcnk1MzUyNjY=\"",
            "[].repository.node_id: was no member, is string"),
    ]
}

@Suite(
    .enabled(
        if: Recording.folder != nil, "left out without recordings: run scripts/oracles/with-httpbin swift test"))
struct PublicRecordingTests {
    @Test("a contract of a public recording finds a planted change", arguments: Change.all)
    fileprivate func plantedChange(_ change: Change) throws {
        let contract = try Contract(archive: Recording.file, where: Recording.isNotifications)
        let notifications = try Recording.notifications()
        let last = try #require(notifications.last)
        let answer = try Recording.data(Array(notifications.dropLast()) + [change.changed(last)])
        #expect(contract.differences(in: answer).map(\.description) == change.differences)
    }

    @Test("a recording, its parts and its reordered elements have no difference")
    func unchanged() throws {
        let contract = try Contract(archive: Recording.file, where: Recording.isNotifications)
        #expect(try contract.differences(inArchive: Recording.file, where: Recording.isNotifications) == [])
        let notifications = try Recording.notifications()
        for list in notifications.map({ [$0] }) + [[], notifications.reversed()] {
            #expect(contract.differences(in: try Recording.data(list)) == [])
        }
    }

    @Test("the contract of every second notification describes the others")
    func halves() throws {
        let notifications = try Recording.notifications()
        let halves = (0..<2).map { half in notifications.indices.filter { $0 % 2 == half }.map { notifications[$0] } }
        for (one, other) in [(halves[0], halves[1]), (halves[1], halves[0])] {
            let contract = try Contract(answers: [Recording.data(one)])
            #expect(contract.differences(in: try Recording.data(other)) == [])
        }
    }
}
