// The thinnest bridge to libcurl: loads libcurl.so.4 at run time, declares what Switchboard uses of it, wraps its
// variadic functions, and waits on its sockets with epoll, which Swift does not import. Needs no curl header to build.
#ifndef SWITCHBOARD_CURL_H
#define SWITCHBOARD_CURL_H
#if defined(__linux__)

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// MARK: The library

/// Loads the library, once for the process. Returns null when it is there, and otherwise why not, in words that stay.
const char *_Nullable ccurl_load(void);
/// The same for a library of another name, forgetting nothing of what is loaded: for tests of a failing load.
const char *_Nullable ccurl_try_load(const char *name);
/// Whether the thread that is in the library has SIGPIPE blocked: by default where that is older than 7.87. For tests.
void ccurl_set_blocks_sigpipe(bool blocks);
/// Runs `body` as what the library does is run: with SIGPIPE blocked, where it is.
void ccurl_without_sigpipe(void (*body)(void *_Nullable context), void *_Nullable context);
/// The version as 0xXXYYZZ, and as text with those of TLS and compression.
uint32_t ccurl_version_number(void);
const char *ccurl_version_text(void);
/// libcurl's CURL_VERSION_ bits.
int32_t ccurl_features(void);
const char *ccurl_error_text(int32_t code);
/// The file and folder of authorities the library was built with; null when unknown.
const char *_Nullable ccurl_default_ca_file(void *easy);
const char *_Nullable ccurl_default_ca_folder(void *easy);

// MARK: One transfer

typedef size_t (*ccurl_data_callback)(char *_Nullable data, size_t size, size_t count, void *_Nullable context);
typedef int (*ccurl_seek_callback)(void *_Nullable context, int64_t offset, int origin);
typedef int (*ccurl_prerequest_callback)(
    void *_Nullable context, char *_Nullable remote, char *_Nullable local, int remote_port, int local_port);
typedef int (*ccurl_socket_callback)(void *_Nullable context, int socket, int purpose);

void *_Nullable ccurl_easy_make(void);
void ccurl_easy_free(void *easy);
int32_t ccurl_easy_set_long(void *easy, int32_t option, long value);
int32_t ccurl_easy_set_offset(void *easy, int32_t option, int64_t value);
int32_t ccurl_easy_set_text(void *easy, int32_t option, const char *_Nullable value);
int32_t ccurl_easy_set_pointer(void *easy, int32_t option, void *_Nullable value);
/// Copies the bytes.
int32_t ccurl_easy_set_blob(void *easy, int32_t option, const void *bytes, size_t size);
/// The callbacks. A library older than 7.80 calls `prerequest` when the head has been sent, without addresses, and
/// ignores what it returns. `connect` is called for each socket, before it is connected.
void ccurl_easy_set_callbacks(
    void *easy, ccurl_data_callback header, ccurl_data_callback write, ccurl_data_callback read,
    ccurl_seek_callback seek, ccurl_prerequest_callback prerequest, ccurl_socket_callback connect);
/// The context that all callbacks get, and `CURLOPT_PRIVATE`.
void ccurl_easy_set_context(void *easy, void *_Nullable context);
int32_t ccurl_easy_pause(void *easy, int32_t bitmask);
/// How many connections the transfer has made; none when it goes over a kept one.
long ccurl_easy_connects(void *easy);
int64_t ccurl_easy_downloaded(void *easy);

/// Times in microseconds from the start of the transfer; -1 where the library does not say.
typedef struct {
    int64_t name_lookup, connect, app_connect, pre_transfer, total;
    int64_t sent;
    long connects, http_version, remote_port;
    const char *_Nullable remote_address;
} ccurl_figures;
ccurl_figures ccurl_easy_figures(void *easy);

/// Appends a copy of the line; null when there is no memory, and the list is as it was.
void *_Nullable ccurl_list_append(void *_Nullable list, const char *line);
void ccurl_list_free(void *_Nullable list);

// MARK: Many transfers

void *_Nullable ccurl_multi_make(void);
void ccurl_multi_free(void *multi);
int32_t ccurl_multi_set_long(void *multi, int32_t option, long value);
int32_t ccurl_multi_add(void *multi, void *easy);
int32_t ccurl_multi_remove(void *multi, void *easy);
/// The context of a transfer that has ended, and its result; null when there is none. The transfer is still added.
void *_Nullable ccurl_multi_next_ended(void *multi, int32_t *result);

// MARK: Waiting

typedef struct ccurl_poller ccurl_poller;
/// Waits on a multi handle's sockets and timer; null when the system has no more descriptors.
ccurl_poller *_Nullable ccurl_poller_make(void *multi);
void ccurl_poller_free(ccurl_poller *poller);
/// Makes the sockets of a transfer known to the poller. Before its first use.
void ccurl_poller_adopt(ccurl_poller *poller, void *easy);
/// Lets libcurl act when its timer is over: transfers just added begin here.
void ccurl_poller_fire(ccurl_poller *poller);
/// When libcurl's timer is over, in nanoseconds of the monotonic clock; -1 when it is off.
int64_t ccurl_poller_due(const ccurl_poller *poller);
/// Waits up to `milliseconds` (-1 without limit) for sockets or a wake-up: how many there are. Gives the lock up while
/// it waits.
int ccurl_poller_wait(ccurl_poller *poller, int milliseconds);
/// Lets libcurl act on what the wait found, and on its timer.
void ccurl_poller_act(ccurl_poller *poller, int count);
/// Whoever uses the multi handle, its transfers or the poller holds this lock, but for `ccurl_poller_wake`.
void ccurl_poller_lock(ccurl_poller *poller);
/// False when another thread, or this one, holds it.
bool ccurl_poller_try_lock(ccurl_poller *poller);
void ccurl_poller_unlock(ccurl_poller *poller);
/// Marks this thread as the one that drives the poller, between two turns, without the lock; null unmarks it.
void ccurl_poller_enter(const ccurl_poller *_Nullable poller);
bool ccurl_poller_is_entered(const ccurl_poller *poller);
/// When it last woke, in nanoseconds of the monotonic clock.
uint64_t ccurl_poller_time(const ccurl_poller *poller);
/// Ends a wait, from any thread.
void ccurl_poller_wake(ccurl_poller *poller);

#pragma clang assume_nonnull end

#endif
#endif
