#pragma once
#include <stdbool.h>

/// Returns whether this process runs under valgrind. Always false if the build found no valgrind header.
bool callgrind_is_there(void);
/// Resets the counts.
void callgrind_forget(void);
/// Writes the counts to a separate file that names `what`, and resets them.
void callgrind_write(const char *what);
