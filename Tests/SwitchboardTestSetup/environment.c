#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

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

/// Raises the limit of open descriptors, which is 256 on Apple's systems and 1,024 in many containers. The servers and
/// clients of the tests need more.
__attribute__((constructor)) static void raiseDescriptorLimit(void) {
    // macOS accepts at most this, its OPEN_MAX.
    const rlim_t most = 10240;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= most) return;
    limit.rlim_cur = limit.rlim_max < most ? limit.rlim_max : most;
    setrlimit(RLIMIT_NOFILE, &limit);
}
