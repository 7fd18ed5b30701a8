#if defined(__linux__)
#include <stdbool.h>

// What a thread did about SIGPIPE before it was kept from being raised.
typedef struct { bool is_on, was_pending, was_blocked; } ccurl_sigpipe;

ccurl_sigpipe ccurl_sigpipe_block(void);
void ccurl_sigpipe_restore(ccurl_sigpipe before);

// Evaluates `call`, an entry into libcurl that may write to a socket, without SIGPIPE where the library raises it.
#define QUIETLY(call) ({ \
    ccurl_sigpipe before_ = ccurl_sigpipe_block(); \
    __typeof__(call) result_ = (call); \
    ccurl_sigpipe_restore(before_); \
    result_; })
#endif
