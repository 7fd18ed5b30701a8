// Internal functions of the C files.
#ifndef SWITCHBOARD_CURL_INTERNAL_H
#define SWITCHBOARD_CURL_INTERNAL_H
#if defined(__linux__) && !defined(__ANDROID__)
#include <stdbool.h>

int swcurl_multi_socket_action(void *multi, int socket, int events);
// Whether libcurl, after a timeout of one address of a host, tries the next one only when it is driven again, as from
// 7.87 until 8.3 (https://github.com/curl/curl/issues/11920).
bool swcurl_multi_leaves_addresses(void);
// Drives all transfers.
void swcurl_multi_drive_all(void *multi);
int swcurl_multi_set_pointer(void *multi, int option, void *value);

// Whether a new descriptor is one of the last 16 of the process, or of its last eighth. libdispatch ends a process that
// cannot open a file once a second, and name lookups and TLS open files too.
bool swcurl_is_reserved(int descriptor);

// The state of a thread's SIGPIPE before it was blocked.
typedef struct { bool is_on, was_pending, was_blocked; } swcurl_sigpipe;

swcurl_sigpipe swcurl_sigpipe_block(void);
void swcurl_sigpipe_restore(swcurl_sigpipe before);

// Evaluates `call`, a call of libcurl that may write to a socket. Blocks SIGPIPE meanwhile if this libcurl may raise
// it.
#define QUIETLY(call) ({ \
    swcurl_sigpipe before_ = swcurl_sigpipe_block(); \
    __typeof__(call) result_ = (call); \
    swcurl_sigpipe_restore(before_); \
    result_; })
#endif
#endif
