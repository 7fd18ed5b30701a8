#if defined(__linux__)
#include <stdbool.h>

// What a thread did about SIGPIPE before it was kept from being raised.
typedef struct { bool is_on, was_pending, was_blocked; } swcurl_sigpipe;

swcurl_sigpipe swcurl_sigpipe_block(void);
void swcurl_sigpipe_restore(swcurl_sigpipe before);

// Evaluates `call`, an entry into libcurl that may write to a socket, without SIGPIPE where the library raises it.
#define QUIETLY(call) ({ \
    swcurl_sigpipe before_ = swcurl_sigpipe_block(); \
    __typeof__(call) result_ = (call); \
    swcurl_sigpipe_restore(before_); \
    result_; })
#endif
