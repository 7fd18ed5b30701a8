// A thin bridge to libcurl. It loads libcurl.so.4 at run time, declares the parts that Switchboard uses, wraps variadic
// functions, and waits on sockets with epoll, which Swift does not import. It needs no curl header to build.
#ifndef SWITCHBOARD_CURL_C_H
#define SWITCHBOARD_CURL_C_H
#if defined(__linux__) && !defined(__ANDROID__)

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#pragma clang assume_nonnull begin

// MARK: The library

/// Loads the library, unless one is loaded. Returns null on success. Otherwise it returns the reason, which is valid until
/// the thread's next call, and a later call tries again.
const char *_Nullable swcurl_load(const char *name);
/// Returns whether the process can open a descriptor that no connection leaves to the rest of the process. Without one, no
/// library can be loaded.
bool swcurl_has_descriptors(void);
/// Returns whether the environment names a proxy: whether a variable ends in `_proxy`, in any case.
bool swcurl_has_proxy_variable(void);
/// Tries to load a library of another name, without affecting the loaded one. For tests of a failing load.
const char *_Nullable swcurl_try_load(const char *name);
/// Sets whether a thread that runs libcurl blocks SIGPIPE. By default it does so for versions before 7.87. For tests.
void swcurl_set_blocks_sigpipe(bool blocks);
/// Runs `body` like a call of libcurl: with SIGPIPE blocked, if that is on.
void swcurl_without_sigpipe(void (*body)(void *_Nullable context), void *_Nullable context);
/// Return the version as 0xXXYYZZ, and as text.
uint32_t swcurl_version_number(void);
const char *swcurl_version_text(void);
/// Returns libcurl's CURL_VERSION_ bits.
int32_t swcurl_features(void);
const char *swcurl_error_text(int32_t code);
/// Return the file and folder of authorities that the library was built with, or null if unknown.
const char *_Nullable swcurl_default_ca_file(void *easy);
const char *_Nullable swcurl_default_ca_folder(void *easy);

// MARK: One transfer

typedef size_t (*swcurl_data_callback)(char *_Nullable data, size_t size, size_t count, void *_Nullable context);
typedef int (*swcurl_seek_callback)(void *_Nullable context, int64_t offset, int origin);
typedef int (*swcurl_prerequest_callback)(
    void *_Nullable context, char *_Nullable remote, char *_Nullable local, int remote_port, int local_port);
typedef int (*swcurl_lookup_callback)(void *_Nullable state, void *_Nullable reserved, void *_Nullable context);
typedef int (*swcurl_socket_callback)(void *_Nullable context, int socket, int purpose);
/// Receives the number of the HTTP/2 stream that a transfer has opened, or with `is_last` the number of the last stream of
/// its connection that the server's GOAWAY does not exclude.
typedef void (*swcurl_stream_callback)(void *context, int64_t stream, bool is_last);

void *_Nullable swcurl_easy_make(void);
void swcurl_easy_free(void *easy);
int32_t swcurl_easy_set_long(void *easy, int32_t option, long value);
int32_t swcurl_easy_set_offset(void *easy, int32_t option, int64_t value);
int32_t swcurl_easy_set_text(void *easy, int32_t option, const char *_Nullable value);
int32_t swcurl_easy_set_pointer(void *easy, int32_t option, void *_Nullable value);
/// Sets an option to a copy of the bytes.
int32_t swcurl_easy_set_blob(void *easy, int32_t option, const void *bytes, size_t size);
/// Parses a URL and keeps its path unchanged. Returns null for a URL that libcurl rejects.
void *_Nullable swcurl_url_make(const char *text);
void swcurl_url_free(void *url);
/// Sets the callbacks. A library older than 7.80 calls `prerequest` after the head was sent, without addresses, and
/// ignores its result. `look_up` runs before a name lookup, and `connect` before each socket connects. `stream` runs for
/// each transfer that watches its streams; null keeps the one of an earlier call.
void swcurl_easy_set_callbacks(
    void *easy, swcurl_data_callback header, swcurl_data_callback write, swcurl_data_callback read,
    swcurl_seek_callback seek, swcurl_prerequest_callback prerequest, swcurl_lookup_callback look_up,
    swcurl_socket_callback connect, swcurl_stream_callback _Nullable stream);
/// Sets the context that all callbacks receive. It begins with the pointer that `swcurl_multi_next_ended` returns.
void swcurl_easy_set_context(void *easy, void *context);
/// Sets whether a transfer watches its streams. Only libcurl's verbose texts name them, and formatting those of a request
/// takes some 7,000 instructions.
void swcurl_easy_watch_streams(void *easy, bool watches);
/// Returns whether two transfers in flight have the same connection.
bool swcurl_easy_share_connection(void *one, void *other);
/// Returns whether a socket is the connection of a transfer in flight.
bool swcurl_easy_uses_socket(void *easy, int socket);
int32_t swcurl_easy_pause(void *easy, int32_t bitmask);
/// Returns the local port of the transfer's connection, or 0 without one.
long swcurl_easy_local_port(void *easy);
/// Returns the number of connections that the transfer opened, 0 for a reused connection.
long swcurl_easy_connects(void *easy);
int64_t swcurl_easy_downloaded(void *easy);
/// Returns the number of bytes of the body that the transfer has given to its connection.
int64_t swcurl_easy_uploaded(void *easy);

/// Measurements of a transfer. The times are microseconds from its start, -1 if unknown, and 0 on a reused connection.
/// `sent` is the number of bytes of the sent body.
typedef struct {
    int64_t name_lookup, connect, app_connect;
    int64_t sent;
    long connects, http_version, remote_port;
    const char *_Nullable remote_address;
} swcurl_info;
swcurl_info swcurl_easy_info(void *easy);

/// Appends a copy of the line. Returns null without memory, and leaves the list unchanged.
void *_Nullable swcurl_list_append(void *_Nullable list, const char *line);
void swcurl_list_free(void *_Nullable list);

// MARK: Many transfers

void *_Nullable swcurl_multi_make(void);
void swcurl_multi_free(void *multi);
int32_t swcurl_multi_set_long(void *multi, int32_t option, long value);
int32_t swcurl_multi_add(void *multi, void *easy);
int32_t swcurl_multi_remove(void *multi, void *easy);
/// Returns the context of an ended transfer and stores its result, or returns null if none has ended. The transfer
/// stays added.
void *_Nullable swcurl_multi_next_ended(void *multi, int32_t *result);

// MARK: Waiting

typedef struct swcurl_poller swcurl_poller;
/// Creates a poller that waits on a multi handle's sockets and timer. Returns null when the system has no descriptors
/// left.
swcurl_poller *_Nullable swcurl_poller_make(void *multi);
void swcurl_poller_free(swcurl_poller *poller);
/// Registers the sockets of a transfer with the poller. Call it before the transfer's first use.
void swcurl_poller_adopt(swcurl_poller *poller, void *easy);
/// Runs libcurl's timer if it has expired, and ends connections that epoll refused. Added transfers start here.
void swcurl_poller_run_timer(swcurl_poller *poller);
/// Returns whether libcurl has stopped reading from an upgraded socket since the last call.
bool swcurl_poller_take_stopped_reading(swcurl_poller *poller);
/// Forgets the sockets of earlier transfers of an easy handle. libcurl does not report that a transfer leaves a connection
/// that others still use.
void swcurl_poller_forget(swcurl_poller *poller, const void *easy);
/// Returns the socket of an upgraded transfer, or -1 if libcurl does not read from it. `last` is the result of the last
/// call, or -1. From now on, the poller reports when libcurl stops reading from the socket.
int swcurl_poller_upgraded(swcurl_poller *poller, const void *easy, int last);
/// Lets libcurl read now from the socket of a transfer, if libcurl waits for it.
void swcurl_poller_read(swcurl_poller *poller, void *easy);
/// Returns the number of bytes that the peer has acknowledged on the connection of a transfer, and stores the
/// milliseconds since the last of them, and whether the system has more, sent or not. Returns -1 if the system does not
/// count them.
int64_t swcurl_poller_acknowledged(const swcurl_poller *poller, void *easy, uint32_t *milliseconds, bool *is_queued);
/// Returns the milliseconds since the peer of a transfer's connection last acknowledged or sent anything, in steps of up to
/// ten. Returns -1 if the system has sent nothing again in vain, or if it does not measure them.
int64_t swcurl_poller_silence(const swcurl_poller *poller, void *easy);
/// Receives the owner of a socket that is ready. An error or the end of the connection makes it readable. `is_closed`
/// means that no more bytes arrive.
typedef void (*swcurl_ready_callback)(void *owner, bool can_read, bool can_write, bool is_closed);
/// Calls `on_ready` with `end_observer` if the connection of a transfer ends while the transfer is paused, so that libcurl
/// does not read from it. Call it while libcurl still reads: later it changes nothing. Returns the socket, or -1.
int swcurl_poller_observe_end(
    swcurl_poller *poller, const void *easy, void *end_observer, swcurl_ready_callback on_ready);
/// Ends the observation.
void swcurl_poller_unobserve_end(swcurl_poller *poller, int socket, const void *end_observer);
/// Takes the connection of a transfer away from libcurl, and watches it for reading. Returns its new descriptor, or -1
/// when libcurl does not read from it or the system has none left. libcurl continues with a socket without a peer.
int swcurl_poller_take(
    swcurl_poller *poller, const void *easy, void *owner, swcurl_ready_callback on_ready);
/// Sets whether the poller waits to read and to write on a taken socket. It always waits for the end of the connection.
void swcurl_poller_watch(swcurl_poller *poller, int socket, bool reads, bool writes);
/// Closes a taken socket.
void swcurl_poller_close(swcurl_poller *poller, int socket);
/// Returns the expiry of libcurl's timer in nanoseconds of the monotonic clock, -1 when it is off, or 0 when the next run
/// of the timer ends a connection.
int64_t swcurl_poller_due(const swcurl_poller *poller);
/// Waits up to `milliseconds` (-1 without limit) for sockets or a wake-up, and returns the number of events. Releases
/// the lock while it waits.
int swcurl_poller_wait(swcurl_poller *poller, int milliseconds);
/// Passes the events of the wait to libcurl, and runs its timer if it has expired.
void swcurl_poller_handle_events(swcurl_poller *poller, int count);
/// Acquires the lock. Every use of the multi handle, of its added transfers or of the poller needs it, except
/// `swcurl_poller_wake`, `swcurl_poller_adopt`, `swcurl_poller_enter` and `swcurl_poller_is_entered`.
void swcurl_poller_lock(swcurl_poller *poller);
/// Tries to acquire the lock. Returns false when a thread holds it, even this one.
bool swcurl_poller_try_lock(swcurl_poller *poller);
void swcurl_poller_unlock(swcurl_poller *poller);
/// Marks this thread as the one that drives the poller and does not hold the lock now. Null removes the mark.
void swcurl_poller_enter(const swcurl_poller *_Nullable poller);
bool swcurl_poller_is_entered(const swcurl_poller *poller);
/// Returns the time when the poller last woke, in nanoseconds of the monotonic clock.
uint64_t swcurl_poller_time(const swcurl_poller *poller);
/// Ends a wait, from any thread.
void swcurl_poller_wake(swcurl_poller *poller);

/// Starts a thread of 1 MiB that ends by itself. Returns 0, or the error number of the system.
int32_t swcurl_start_thread(void (*body)(void *context), void *context);

// MARK: Sockets

/// Receives without waiting. Returns the number of bytes, 0 at the end, or the negative `errno`. Needs no lock.
ssize_t swcurl_socket_receive(int socket, void *bytes, size_t size);
/// Sends without waiting and without SIGPIPE. Returns the number of bytes, or the negative `errno`. An error other than
/// EAGAIN also ends the connection, so that the receiver detects it. Needs no lock.
ssize_t swcurl_socket_send(int socket, const void *bytes, size_t size);

#pragma clang assume_nonnull end

#endif
#endif
