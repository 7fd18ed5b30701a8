#if defined(__linux__) && !defined(__ANDROID__)
// Prevents libcurl before 7.87 from ending the process: with CURLOPT_NOSIGNAL it does not ignore SIGPIPE, and its
// OpenSSL writes with write(2). The thread that runs libcurl blocks the signal, and discards a signal raised meanwhile.
// The process's disposition does not change.
#define _GNU_SOURCE
#include "SwitchboardCurlC.h"
#include "Internal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

static atomic_bool is_raised_by_library = true;

void swcurl_set_blocks_sigpipe(bool blocks) { is_raised_by_library = blocks; }

static sigset_t sigpipe(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return set;
}

swcurl_sigpipe swcurl_sigpipe_block(void) {
    swcurl_sigpipe before = {.is_on = is_raised_by_library};
    if (!before.is_on) return before;
    sigset_t pending, mask, pipe = sigpipe();
    sigemptyset(&pending);
    sigpending(&pending);
    before.was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe, &mask);
    before.was_blocked = sigismember(&mask, SIGPIPE) == 1;
    return before;
}

void swcurl_sigpipe_restore(swcurl_sigpipe before) {
    if (!before.is_on) return;
    int number = errno;
    sigset_t pipe = sigpipe();
    const struct timespec at_once = {0};
    if (!before.was_pending)
        while (sigtimedwait(&pipe, NULL, &at_once) < 0 && errno == EINTR) {}
    if (!before.was_blocked) pthread_sigmask(SIG_UNBLOCK, &pipe, NULL);
    errno = number;
}

void swcurl_without_sigpipe(void (*body)(void *), void *context) {
    swcurl_sigpipe before = swcurl_sigpipe_block();
    body(context);
    swcurl_sigpipe_restore(before);
}
#endif
