#ifndef LIBCURL_LOOP_H
#define LIBCURL_LOOP_H

struct libcurl_loop_result {
    long requests, bytes, errors;
    double seconds;
};

/// Gets a page repeatedly with libcurl alone on one thread: the lower bound for any client over libcurl. Uses
/// CurlSession's options. Returns false if libcurl is not installed.
_Bool libcurl_loop(const char *url, int in_flight, double seconds, struct libcurl_loop_result *result);

#endif
