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

/// Runs `body` while this process can start no thread. The queues of Dispatch wait for threads meanwhile, so `body` blocks
/// its thread in place of suspending.
package func withoutThreads<Output>(_ body: () throws -> Output) throws -> Output {
    typealias Function = @convention(c) (UnsafeMutablePointer<pthread_attr_t>) -> Int32
    func function(_ name: String) throws -> Function {
        unsafeBitCast(try #require(dlsym(nil, name)), to: Function.self)
    }
    let setDefault = try function("pthread_setattr_default_np")
    return try withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 2) { attributes in
        let before = attributes.baseAddress!, during = before + 1
        try #require(function("pthread_getattr_default_np")(before) == 0)
        pthread_attr_init(during)
        // No address space has room for a stack of 64 PiB.
        try #require(pthread_attr_setstacksize(during, 1 << 56) == 0 && setDefault(during) == 0)
        defer { _ = setDefault(before) }
        return try body()
    }
}
#endif
