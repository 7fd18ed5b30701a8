import Foundation

/// The data of server-sent events, decoded, up to the event that ends them.
actor DecodedEvents<Value: Decodable & Sendable> {
    private var source: EventSource<EventStreamParser>?
    private let last: String?
    private let decoder: JSONDecoder
    private var failure: (any Error)?

    init(_ source: EventSource<EventStreamParser>, until last: String?, decoder: JSONDecoder) {
        self.source = source
        self.last = last
        self.decoder = decoder
    }

    /// The next values, none when there are none yet; nil at the end. Those before an error are given first.
    func more() async throws -> [Value]? {
        if let failure {
            self.failure = nil
            throw failure
        }
        guard let source, let events = try await source.more() else { return nil }
        var values: [Value] = []
        for event in events {
            guard event.data != last else {
                self.source = nil  // which closes the exchange
                break
            }
            do {
                values.append(try event.decode(Value.self, decoder: decoder))
            } catch {
                failure = await source.request.map((error as NetworkError).attributed) ?? error
                self.source = nil
                break
            }
        }
        return values
    }
}
