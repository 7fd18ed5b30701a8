// The screens of an app that shows values.
import Foundation
import Switchboard

func show(_ value: Any) {}
func showOffline() {}
func showLogin() {}
/// Shows a page, and gives the URL that it came back with.
func showBrowser(_ url: URL) async throws -> URL { url }

nonisolated(unsafe) var fields: [String] = []

struct Bar: Sendable {
    func show(_ fraction: Double?, _ rate: Double? = nil) {}
}
let bar = Bar()

/// A store of secrets that belongs to the app.
actor Account {
    var token: String? { nil }
}
let account = Account()
