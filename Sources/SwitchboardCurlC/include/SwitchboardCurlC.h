// The thinnest bridge to libcurl: loads libcurl.so.4 at run time, declares what Switchboard uses of it, wraps its
// variadic functions, and waits on its sockets with epoll, which Swift does not import. Needs no curl header to build.
#ifndef SWITCHBOARD_CURL_C_H
#define SWITCHBOARD_CURL_C_H
#if defined(__linux__)

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// MARK: The library

/// Loads the library, once for the process. Returns null when it is there, and otherwise why not, in words that stay.
const char *_Nullable swcurl_load(void);
/// The same for a library of another name, forgetting nothing of what is loaded: for tests of a failing load.
const char *_Nullable swcurl_try_load(const char *name);
/// Whether the thread that is in the library has SIGPIPE blocked: by default where that is older than 7.87. For tests.
void swcurl_set_blocks_sigpipe(bool blocks);
/// Runs `body` as what the library does is run: with SIGPIPE blocked, where it is.
void swcurl_without_sigpipe(void (*body)(void *_Nullable context), void *_Nullable context);
/// The version as 0xXXYYZZ, and as text with those of TLS and compression.
uint32_t swcurl_version_number(void);
const char *swcurl_version_text(void);
/// libcurl's CURL_VERSION_ bits.
int32_t swcurl_features(void);
const char *swcurl_error_text(int32_t code);
/// The file and folder of authorities the library was built with; null when unknown.
const char *_Nullable swcurl_default_ca_file(void *easy);
const char *_Nullable swcurl_default_ca_folder(void *easy);

// MARK: One transfer

typedef size_t (*swcurl_data_callback)(char *_Nullable data, size_t size, size_t count, void *_Nullable context);
typedef int (*swcurl_seek_callback)(void *_Nullable context, int64_t offset, int origin);
typedef int (*swcurl_prerequest_callback)(
    void *_Nullable context, char *_Nullable remote, char *_Nullable local, int remote_port, int local_port);
typedef int (*swcurl_lookup_callback)(void *_Nullable state, void *_Nullable reserved, void *_Nullable context);
typedef int (*swcurl_socket_callback)(void *_Nullable context, int socket, int purpose);

void *_Nullable swcurl_easy_make(void);
void swcurl_easy_free(void *easy);
int32_t swcurl_easy_set_long(void *easy, int32_t option, long value);
int32_t swcurl_easy_set_offset(void *easy, int32_t option, int64_t value);
int32_t swcurl_easy_set_text(void *easy, int32_t option, const char *_Nullable value);
int32_t swcurl_easy_set_pointer(void *easy, int32_t option, void *_Nullable value);
/// Copies the bytes.
int32_t swcurl_easy_set_blob(void *easy, int32_t option, const void *bytes, size_t size);
/// A URL in its parts, its path as it is; null for one that libcurl does not take.
void *_Nullable swcurl_url_make(const char *text);
void swcurl_url_free(void *url);
/// The callbacks. A library older than 7.80 calls `prerequest` when the head has been sent, without addresses, and
/// ignores what it returns. `look_up` is called before a name is looked up, `connect` for each socket, before it is
/// connected.
void swcurl_easy_set_callbacks(
    void *easy, swcurl_data_callback header, swcurl_data_callback write, swcurl_data_callback read,
    swcurl_seek_callback seek, swcurl_prerequest_callback prerequest, swcurl_lookup_callback look_up,
    swcurl_socket_callback connect);
/// The context that all callbacks get, and `CURLOPT_PRIVATE`.
void swcurl_easy_set_context(void *easy, void *_Nullable context);
int32_t swcurl_easy_pause(void *easy, int32_t bitmask);
/// How many connections the transfer has made; none when it goes over a kept one.
long swcurl_easy_connects(void *easy);
int64_t swcurl_easy_downloaded(void *easy);

/// Times in microseconds from the start of the transfer; -1 where the library does not say.
typedef struct {
    int64_t name_lookup, connect, app_connect, pre_transfer, total;
    int64_t sent;
    long connects, http_version, remote_port;
    const char *_Nullable remote_address;
} swcurl_figures;
swcurl_figures swcurl_easy_figures(void *easy);

/// Appends a copy of the line; null when there is no memory, and the list is as it was.
void *_Nullable swcurl_list_append(void *_Nullable list, const char *line);
void swcurl_list_free(void *_Nullable list);

// MARK: Many transfers

void *_Nullable swcurl_multi_make(void);
void swcurl_multi_free(void *multi);
int32_t swcurl_multi_set_long(void *multi, int32_t option, long value);
int32_t swcurl_multi_add(void *multi, void *easy);
int32_t swcurl_multi_remove(void *multi, void *easy);
/// The context of a transfer that has ended, and its result; null when there is none. The transfer is still added.
void *_Nullable swcurl_multi_next_ended(void *multi, int32_t *result);

// MARK: Waiting

typedef struct swcurl_poller swcurl_poller;
/// Waits on a multi handle's sockets and timer; null when the system has no more descriptors.
swcurl_poller *_Nullable swcurl_poller_make(void *multi);
void swcurl_poller_free(swcurl_poller *poller);
/// Makes the sockets of a transfer known to the poller. Before its first use.
void swcurl_poller_adopt(swcurl_poller *poller, void *easy);
/// Lets libcurl act when its timer is over: transfers just added begin here.
void swcurl_poller_fire(swcurl_poller *poller);
/// When libcurl's timer is over, in nanoseconds of the monotonic clock; -1 when it is off.
int64_t swcurl_poller_due(const swcurl_poller *poller);
/// Waits up to `milliseconds` (-1 without limit) for sockets or a wake-up: how many there are. Gives the lock up while
/// it waits.
int swcurl_poller_wait(swcurl_poller *poller, int milliseconds);
/// Lets libcurl act on what the wait found, and on its timer.
void swcurl_poller_act(swcurl_poller *poller, int count);
/// Whoever uses the multi handle, its transfers or the poller holds this lock, but for `swcurl_poller_wake`.
void swcurl_poller_lock(swcurl_poller *poller);
/// False when another thread, or this one, holds it.
bool swcurl_poller_try_lock(swcurl_poller *poller);
void swcurl_poller_unlock(swcurl_poller *poller);
/// Marks this thread as the one that drives the poller, between two turns, without the lock; null unmarks it.
void swcurl_poller_enter(const swcurl_poller *_Nullable poller);
bool swcurl_poller_is_entered(const swcurl_poller *poller);
/// When it last woke, in nanoseconds of the monotonic clock.
uint64_t swcurl_poller_time(const swcurl_poller *poller);
/// Ends a wait, from any thread.
void swcurl_poller_wake(swcurl_poller *poller);

#pragma clang assume_nonnull end

#endif
#endif
