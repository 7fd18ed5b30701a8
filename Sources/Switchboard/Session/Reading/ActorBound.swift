/// A closure that runs on the actor on which it was created, such as the decoding of a type that belongs to an actor.
///
/// Input and output need not be `Sendable`: the caller gives the input away, and nobody else has the output.
package struct ActorBound<Input, Output>: @unchecked Sendable {  // `body` runs on `actor` alone
    private let actor: (any Actor)?
    private let body: (Input) throws -> Output

    /// Creates the closure. Without an actor it runs wherever it is called.
    package init(isolation: isolated (any Actor)? = #isolation, _ body: @escaping (Input) throws -> Output) {
        actor = isolation
        self.body = body
    }

    package func callAsFunction(_ input: Input) async throws -> Transferred<Output> {
        try await run(Transferred(input), on: actor)
    }

    /// The closure for code that must be `Sendable`.
    package var sendable: @Sendable (Input) async throws -> Transferred<Output> { { try await self($0) } }

    private func run(
        _ input: Transferred<Input>, on actor: isolated (any Actor)?
    ) async throws -> Transferred<Output> {
        Transferred(try body(input.value))
    }
}
