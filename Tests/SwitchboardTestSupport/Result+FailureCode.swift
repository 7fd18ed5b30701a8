import Switchboard

extension Result where Failure == NetworkError {
    /// The code of the failure, or nil for a success.
    package var failureCode: NetworkError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}

extension Result where Failure == any Error {
    /// Creates the result of an async operation.
    package init(_ operation: () async throws -> Success) async {
        do {
            self = .success(try await operation())
        } catch {
            self = .failure(error)
        }
    }
}

/// Returns the code of the `NetworkError` that the body throws, or nil for anything else.
package func failure<Output>(_ body: () throws -> Output) -> NetworkError.Code? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? NetworkError)?.code
    }
}

/// Returns the code of the `NetworkError` that the body throws, or nil for anything else.
package func failure<Output>(_ body: () async throws -> Output) async -> NetworkError.Code? {
    do {
        _ = try await body()
        return nil
    } catch {
        return (error as? NetworkError)?.code
    }
}
