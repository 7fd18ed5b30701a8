#include <stdlib.h>

/// Limits the tests that run at the same time, before Swift Testing reads the limit. Without one all of them start at
/// once, and on a busy machine each then waits for minutes between two steps, longer than connections and timeouts last.
__attribute__((constructor)) static void limitParallelTests(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "16", 0);
}
