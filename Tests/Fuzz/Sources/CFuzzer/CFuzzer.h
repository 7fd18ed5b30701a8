#include <stddef.h>
#include <stdint.h>

/// Runs libFuzzer, of clang's runtime library.
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*callback)(const uint8_t *bytes, size_t size));
