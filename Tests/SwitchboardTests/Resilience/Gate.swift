import Switchboard

/// Holds up who comes until it is opened.
final class Gate: Sendable {
    private let opened = Deliveries<Bool>()

    func wait() async throws {
        _ = try await opened.first()
    }

    func open() {
        opened.open()
    }
}
