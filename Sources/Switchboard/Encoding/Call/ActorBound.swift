/// A value that moves to another actor although it is not `Sendable`. No other code may use it.
package struct Transferred<Value>: @unchecked Sendable {
    package var value: Value

    package init(_ value: Value) { self.value = value }
}

/// A closure that runs on the actor on which it was created, such as the decoding of a type that belongs to an actor.
///
/// Input and output need not be `Sendable`: the caller gives up the input, and no other code has the output.
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
