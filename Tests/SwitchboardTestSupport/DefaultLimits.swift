import SwitchboardMocks

// Tests that name no limit call these overloads. On a busy machine, the mocks' own default of 60 s may be too short.

extension MockServer {
    package func takeRequest() async throws -> RecordedRequest { try await takeRequest(within: .seconds(300)) }

    package func takeWebSocket() async throws -> RecordedWebSocket { try await takeWebSocket(within: .seconds(300)) }

    package func waitForDisconnect(of connection: Int? = nil) async throws {
        try await waitForDisconnect(of: connection, within: .seconds(300))
    }
}

extension TestClock {
    package func nextSleep() async throws -> Swift.Duration { try await nextSleep(within: .seconds(300)) }
}
