#include "Callgrind.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>

bool callgrind_is_there(void) { return RUNNING_ON_VALGRIND != 0; }
void callgrind_forget(void) { CALLGRIND_ZERO_STATS; }
void callgrind_write(const char *what) { CALLGRIND_DUMP_STATS_AT(what); }
#else
bool callgrind_is_there(void) { return false; }
void callgrind_forget(void) {}
void callgrind_write(const char *what) { (void)what; }
#endif
