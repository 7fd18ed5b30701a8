#if os(Linux)
import Foundation
import Testing

/// Runs `body` while a resource of this process has a limit. Only an exit test may call it, because the limit applies to
/// the whole process.
package func withLimit<Output>(
    _ limit: rlim_t, of resource: __rlimit_resource, _ body: () async throws -> Output
) async throws -> Output {
    let kind = __rlimit_resource_t(resource.rawValue)
    var before = rlimit()
    try #require(getrlimit(kind, &before) == 0)
    var during = before
    during.rlim_cur = limit
    try #require(setrlimit(kind, &during) == 0)
    defer { setrlimit(kind, &before) }
    return try await body()
}

/// Runs `body` while this process can open no descriptor.
package func withoutDescriptors<Output>(_ body: () async throws -> Output) async throws -> Output {
    // Forbids all numbers but those of the standard descriptors, which are in use.
    try await withLimit(3, of: RLIMIT_NOFILE) {
        try #require(open("/dev/null", O_RDONLY) == -1 && errno == EMFILE)
        return try await body()
    }
}
#endif
