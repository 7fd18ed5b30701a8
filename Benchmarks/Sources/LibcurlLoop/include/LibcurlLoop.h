#ifndef LIBCURL_LOOP_H
#define LIBCURL_LOOP_H

struct libcurl_loop_result {
    long requests, bytes, errors;
    double seconds;
};

/// Gets a page again and again with nothing but libcurl and one thread: what no client over libcurl can be better than.
/// The options are those of CurlSession. False without a libcurl.
_Bool libcurl_loop(const char *url, int in_flight, double seconds, struct libcurl_loop_result *result);

#endif
