#include <stdlib.h>
#include <sys/stat.h>
#ifdef __APPLE__
#include <limits.h>
#include <sys/resource.h>
#endif

/// Limits the tests that run at the same time, before Swift Testing reads the limit. Without one all of them start at
/// once, and on a busy machine each then waits for minutes between two steps, longer than connections and timeouts last.
__attribute__((constructor)) static void limitParallelTests(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "16", 0);
}

/// Removes the proxies of the environment, which would get the requests to the tests' own servers.
__attribute__((constructor)) static void removeProxies(void) {
    static const char *const names[] = {
        "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
    };
    for (size_t index = 0; index < sizeof names / sizeof *names; index++) unsetenv(names[index]);
}

/// Keeps other users from writing to the folders that the tests create, which a cache refuses. Some programs that run
/// jobs set no mask.
__attribute__((constructor)) static void protectFolders(void) { umask(022); }

#ifdef __APPLE__
/// Raises the limit of open descriptors, which is 256 by default. The servers and clients of the tests need more.
__attribute__((constructor)) static void raiseDescriptorLimit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    // setrlimit rejects more than OPEN_MAX.
    limit.rlim_cur = limit.rlim_max < OPEN_MAX ? limit.rlim_max : OPEN_MAX;
    setrlimit(RLIMIT_NOFILE, &limit);
}
#endif
