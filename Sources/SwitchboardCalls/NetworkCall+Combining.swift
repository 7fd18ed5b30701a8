import Foundation
import Switchboard

extension NetworkCall {
    /// Returns a call with the transformed value. In code of the main actor, the transform runs there.
    public func map<Output: Sendable>(
        @_inheritActorContext _ transform: @escaping @Sendable (Value) async throws -> Output
    ) -> NetworkCall<Output> {
        then(transform)
    }

    /// Returns a call with the transformed value. If the transform returns nil, the call fails with
    /// `NetworkError.Code.decodingFailed`.
    public func compactMap<Output: Sendable>(
        @_inheritActorContext _ transform: @escaping @Sendable (Value) async throws -> Output?
    ) -> NetworkCall<Output> {
        then { value in
            guard let output = try await transform(value) else {
                throw NetworkError(.decodingFailed, reason: "the transform of compactMap returned nil")
            }
            return output
        }
    }

    /// Returns a call that makes this call, and then the call that `next` creates from its value.
    public func flatMap<Output: Sendable>(
        @_inheritActorContext _ next: @escaping @Sendable (Value) async throws -> NetworkCall<Output>
    ) -> NetworkCall<Output> {
        then { value in try await next(value).value }
    }

    /// Returns a call that makes this call, and then one for each element of its value.
    ///
    /// ```swift
    /// let movies = router.call(for: .popular(page: 1), as: MoviePage.self)
    ///     .map(\.results)
    /// let videos = movies.flatMap(width: 4) { movie in
    ///     router.call(for: .video(id: movie.id), as: Video.self)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - width: The maximum number of concurrent calls, at least 1.
    ///   - next: Returns the call for an element.
    /// - Returns: A call for all values, in the order of the elements. The first failure cancels the other calls, and
    ///   becomes the call's error.
    public func flatMap<Output: Sendable>(
        width: Int,
        @_inheritActorContext _ next: @escaping @Sendable (Value.Element) async throws -> NetworkCall<Output>
    ) -> NetworkCall<[Output]> where Value: Sequence & Sendable, Value.Element: Sendable {
        then { value in try await gather(value, width: width) { try await next($0).value } }
    }

    /// Returns a call that makes this call, and then one for each element of its value. A failure becomes a result and
    /// does not stop the other calls.
    ///
    /// - Parameters:
    ///   - width: The maximum number of concurrent calls, at least 1.
    ///   - next: Returns the call for an element.
    /// - Returns: A call for the results, in the order of the elements. It throws when this call fails, or when the
    ///   combination is canceled.
    public func flatMapResults<Output: Sendable>(
        width: Int,
        @_inheritActorContext _ next: @escaping @Sendable (Value.Element) async throws -> NetworkCall<Output>
    ) -> NetworkCall<[Result<Output, NetworkError>]> where Value: Sequence & Sendable, Value.Element: Sendable {
        flatMap(width: width) { element in
            NetworkCall<Output> { try await next(element).value }.result
        }
    }
}

extension NetworkCall where Value: Sendable {
    /// Returns a call that makes this call and another one concurrently. When one fails, the other is canceled.
    public func zip<Other: Sendable>(_ other: NetworkCall<Other>) -> NetworkCall<(Value, Other)> {
        within { first in
            try await withThrowingTaskGroup(of: Part<Value, Other>.self) { group in
                group.addTask { .first(try await first.value) }
                group.addTask { .second(try await other.value) }
                var values: (first: Value?, second: Other?)
                for try await part in group {
                    switch part {
                    case .first(let value): values.first = value
                    case .second(let value): values.second = value
                    }
                }
                guard let first = values.first, let second = values.second else { throw CancellationError() }
                return (first, second)
            }
        }
    }

    /// Returns a call that makes this call and two others concurrently. When one fails, the others are canceled.
    public func zip<Second: Sendable, Third: Sendable>(
        _ second: NetworkCall<Second>, _ third: NetworkCall<Third>
    ) -> NetworkCall<(Value, Second, Third)> {
        zip(second).zip(third).map { ($0.0, $0.1, $1) }
    }

    /// Returns a call that makes several calls, a limited number of them concurrently.
    ///
    /// - Parameters:
    ///   - calls: The calls.
    ///   - width: The maximum number of concurrent calls, at least 1. Default 4.
    /// - Returns: A call for all values, in the order of the calls. The first failure cancels the other calls, and
    ///   becomes the call's error.
    public static func all(_ calls: [NetworkCall], width: Int = 4) -> NetworkCall<[Value]> {
        NetworkCall<[Value]>(of: calls.first?.router) {
            Transferred(try await gather(calls, width: width) { try await $0.value })
        }
    }

    /// Returns a call that makes several calls, a limited number of them concurrently. A failure becomes a result and
    /// does not stop the other calls.
    ///
    /// - Parameters:
    ///   - calls: The calls.
    ///   - width: The maximum number of concurrent calls, at least 1. Default 4.
    /// - Returns: A call for the results, in the order of the calls. It throws when the combination is canceled.
    public static func results(
        of calls: [NetworkCall], width: Int = 4
    ) -> NetworkCall<[Result<Value, NetworkError>]> {
        NetworkCall<[Result<Value, NetworkError>]>(of: calls.first?.router) {
            Transferred(try await gather(calls, width: width) { try await $0.result.value })
        }
    }

    /// The call with its result as the value. It throws only when its task is canceled.
    private var result: NetworkCall<Result<Value, NetworkError>> {
        within { call in
            do {
                return .success(try await call.value)
            } catch {
                try Call.check()
                return .failure(NetworkError.caught(error))
            }
        }
    }
}

private enum Part<First: Sendable, Second: Sendable>: Sendable {
    case first(First)
    case second(Second)
}

/// Runs an operation for each element with limited concurrency, and returns the outputs in the order of the elements.
/// The first failure cancels the others.
private func gather<Elements: Sequence, Output: Sendable>(
    _ elements: Elements, width: Int, _ operation: @escaping @Sendable (Elements.Element) async throws -> Output
) async throws -> [Output] where Elements.Element: Sendable {
    try await withThrowingTaskGroup(of: (Int, Output).self) { group in
        var outputs: [Output?] = []
        var rest = elements.makeIterator()
        func addNext() -> Bool {
            guard let element = rest.next() else { return false }
            let index = outputs.count
            outputs.append(nil)
            group.addTask { (index, try await operation(element)) }
            return true
        }
        while outputs.count < max(1, width), addNext() {}
        while let (index, output) = try await group.next() {
            outputs[index] = output
            _ = addNext()
        }
        return outputs.compactMap { $0 }
    }
}
