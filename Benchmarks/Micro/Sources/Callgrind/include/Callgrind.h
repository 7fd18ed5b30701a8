#pragma once
#include <stdbool.h>

/// Whether this process runs below valgrind, by a build that knows valgrind's header.
bool callgrind_is_there(void);
/// Forgets what was counted so far.
void callgrind_forget(void);
/// Writes what was counted into a file of its own, which names `what`, and forgets it.
void callgrind_write(const char *what);
