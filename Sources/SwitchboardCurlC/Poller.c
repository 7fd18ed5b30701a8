#if defined(__linux__) && !defined(__ANDROID__)
// Waits on libcurl's sockets with epoll, for its multi_socket interface.
#define _GNU_SOURCE
#include "SwitchboardCurlC.h"
#include "Internal.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    CURLMOPT_SOCKETFUNCTION = 20001, CURLMOPT_TIMERFUNCTION = 20004, CURLMOPT_SOCKETDATA = 10002,
    CURLMOPT_TIMERDATA = 10005,
    CURLOPT_OPENSOCKETDATA = 10164, CURLOPT_CLOSESOCKETDATA = 10209,
    CURLOPT_OPENSOCKETFUNCTION = 20163, CURLOPT_CLOSESOCKETFUNCTION = 20208,
    CURL_POLL_IN = 1, CURL_POLL_OUT = 2, CURL_POLL_REMOVE = 4, CURL_SOCKET_BAD = -1, CURL_SOCKET_TIMEOUT = -1,
    CURL_CSELECT_IN = 1, CURL_CSELECT_OUT = 2, CURL_CSELECT_ERR = 4,
    // With libcurl's CURL_POLL_ bits: the end of the connection. epoll reports its errors always.
    POLL_END = 8,
};

struct curl_sockaddr {
    int family, socktype, protocol;
    unsigned int addrlen;
    struct sockaddr addr;
};

/// The state of a descriptor.
struct watch {
    const void *reader;  // the transfer for which libcurl reads from it, or NULL
    void *owner;         // the owner of a socket that libcurl does not know, or NULL
    void *end_observer;  // receives the end of the connection while libcurl does not read from it, or NULL
    uint8_t wanted;      // CURL_POLL_IN, CURL_POLL_OUT and POLL_END, as libcurl or the owner requests them now
    uint8_t registered;  // the same, as registered with epoll
    bool is_connection;  // open_socket created it, so close_socket will close it
    bool is_unwatched;   // epoll refused it, and the next pass reports its end
    bool reports_stop;   // a transfer has upgraded it, so the loop observes whether libcurl stops reading from it
};

struct swcurl_poller {
    void *multi;
    int epoll, wake;
    pthread_mutex_t lock;
    int64_t due;  // the expiry of libcurl's timer in nanoseconds, -1 when it is off
    int64_t time;  // the time when the poller last woke
    struct watch *watches;
    int count;
    bool has_closed_socket;    // whether a socket was closed since the wait began, so that another may have its number
    bool has_stopped_reading;  // whether libcurl stopped reading from an upgraded socket since the last query
    bool has_unwatched;        // whether a socket is unwatched
    bool has_left_address;     // whether libcurl gave up a connection, and must be driven to try the next address
    swcurl_ready_callback on_ready;
    struct epoll_event events[64];  // the events of the last wait
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static struct watch *watch_of(swcurl_poller *poller, int socket) {
    if (socket < 0) return NULL;
    if (socket >= poller->count) {
        int count = poller->count ? poller->count : 64;
        while (count <= socket) count *= 2;
        struct watch *watches = realloc(poller->watches, (size_t)count * sizeof *watches);
        if (!watches) return NULL;
        memset(watches + poller->count, 0, (size_t)(count - poller->count) * sizeof *watches);
        poller->watches = watches;
        poller->count = count;
    }
    return &poller->watches[socket];
}

static bool try_epoll(swcurl_poller *poller, int socket, struct watch *watch, uint8_t mask) {
    if (watch->registered == mask) return true;
    struct epoll_event event = {0};
    event.data.fd = socket;
    if (mask & CURL_POLL_IN) event.events |= EPOLLIN;
    if (mask & CURL_POLL_OUT) event.events |= EPOLLOUT;
    if (mask & POLL_END) event.events |= EPOLLRDHUP;
    int operation = !mask ? EPOLL_CTL_DEL : watch->registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    int result = epoll_ctl(poller->epoll, operation, socket, &event);
    if (result && operation == EPOLL_CTL_MOD && errno == ENOENT)
        result = epoll_ctl(poller->epoll, EPOLL_CTL_ADD, socket, &event);
    else if (result && operation == EPOLL_CTL_ADD && errno == EEXIST)
        result = epoll_ctl(poller->epoll, EPOLL_CTL_MOD, socket, &event);
    watch->registered = result ? 0 : mask;
    return !result || !mask;
}

// Ends a connection that epoll does not watch.
static void update_epoll(swcurl_poller *poller, int socket, struct watch *watch, uint8_t mask) {
    if (try_epoll(poller, socket, watch, mask) || !(watch->is_connection || watch->owner)) return;
    shutdown(socket, SHUT_RDWR);
    watch->is_unwatched = poller->has_unwatched = true;
}

// Never reports an error: libcurl would declare the whole multi handle dead, and continue with half-removed transfers.
static int on_socket(void *easy, int socket, int what, void *context, void *unused) {
    swcurl_poller *poller = context;
    struct watch *watch = watch_of(poller, socket);
    if (!watch) return 0;
    uint8_t before = watch->wanted;
    if (what & CURL_POLL_REMOVE) {
        poller->has_closed_socket = true;
        if (before == CURL_POLL_OUT && swcurl_multi_leaves_addresses()) poller->has_left_address = true;
    }
    watch->wanted = what & CURL_POLL_REMOVE ? 0 : what & (CURL_POLL_IN | CURL_POLL_OUT);
    watch->reader = watch->wanted & CURL_POLL_IN ? easy : NULL;
    if (watch->reports_stop && (what & CURL_POLL_REMOVE || before & ~watch->wanted & CURL_POLL_IN))
        poller->has_stopped_reading = true;
    // Keeps an idle connection in epoll for reading, so that its next transfer needs no system call. libcurl itself may
    // already have closed a socket that was still connecting, and another socket may have its number.
    uint8_t mask = watch->wanted;
    if (watch->end_observer && !(mask & CURL_POLL_IN)) mask |= POLL_END;
    if (!mask && watch->is_connection && watch->registered & CURL_POLL_IN) mask = CURL_POLL_IN;
    update_epoll(poller, socket, watch, mask);
    return 0;
}

static int on_timer(void *multi, long milliseconds, void *context) {
    swcurl_poller *poller = context;
    poller->due = milliseconds <= 0 ? milliseconds : now() + (int64_t)milliseconds * 1000000;
    return 0;
}

static int open_socket(void *context, int purpose, struct curl_sockaddr *address) {
    int descriptor = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (descriptor < 0) return CURL_SOCKET_BAD;
    struct watch *watch = swcurl_is_reserved(descriptor) ? NULL : watch_of(context, descriptor);
    if (!watch) {
        close(descriptor);
        return CURL_SOCKET_BAD;
    }
    *watch = (struct watch){.is_connection = true};
    return descriptor;
}

static int unconnected_socket(void) { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }

static int close_socket(void *context, int socket) {
    swcurl_poller *poller = context;
    poller->has_closed_socket = true;
    if (socket >= 0 && socket < poller->count) {
        // Closing removes it from epoll only if no fork and no duplicate has it.
        try_epoll(poller, socket, &poller->watches[socket], 0);
        poller->watches[socket] = (struct watch){0};
    }
    return close(socket);
}

swcurl_poller *swcurl_poller_make(void *multi) {
    swcurl_poller *poller = calloc(1, sizeof *poller);
    if (!poller) return NULL;
    poller->multi = multi;
    poller->due = -1;
    poller->time = now();
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
#if defined(__GLIBC__)
    // The lock is held for microseconds, so spinning is cheaper than sleeping.
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
    pthread_mutex_init(&poller->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    poller->epoll = epoll_create1(EPOLL_CLOEXEC);
    poller->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = poller->wake};
    if (poller->epoll < 0 || poller->wake < 0
        || epoll_ctl(poller->epoll, EPOLL_CTL_ADD, poller->wake, &event) != 0) {
        swcurl_poller_free(poller);
        return NULL;
    }
    swcurl_multi_set_pointer(multi, CURLMOPT_SOCKETFUNCTION, (void *)on_socket);
    swcurl_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, poller);
    swcurl_multi_set_pointer(multi, CURLMOPT_TIMERFUNCTION, (void *)on_timer);
    swcurl_multi_set_pointer(multi, CURLMOPT_TIMERDATA, poller);
    return poller;
}

void swcurl_poller_free(swcurl_poller *poller) {
    if (poller->epoll >= 0) close(poller->epoll);
    if (poller->wake >= 0) close(poller->wake);
    pthread_mutex_destroy(&poller->lock);
    free(poller->watches);
    free(poller);
}

void swcurl_poller_adopt(swcurl_poller *poller, void *easy) {
    swcurl_easy_set_pointer(easy, CURLOPT_OPENSOCKETFUNCTION, (void *)open_socket);
    swcurl_easy_set_pointer(easy, CURLOPT_OPENSOCKETDATA, poller);
    swcurl_easy_set_pointer(easy, CURLOPT_CLOSESOCKETFUNCTION, (void *)close_socket);
    swcurl_easy_set_pointer(easy, CURLOPT_CLOSESOCKETDATA, poller);
}

static void handle_event(swcurl_poller *poller, const struct epoll_event *event) {
    int socket = event->data.fd;
    if (socket == poller->wake) {
        uint64_t count;
        if (read(socket, &count, sizeof count) < 0) return;
        return;
    }
    struct watch *watch = watch_of(poller, socket);
    if (!watch || !watch->registered) return;
    if (watch->owner) {
        poller->on_ready(
            watch->owner, event->events & ~EPOLLOUT, event->events & EPOLLOUT,
            event->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR));
        return;
    }
    bool is_closed = event->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
    if (is_closed && watch->end_observer && !(watch->wanted & CURL_POLL_IN)) {
        void *end_observer = watch->end_observer;
        watch->end_observer = NULL;
        update_epoll(poller, socket, watch, watch->wanted);
        poller->on_ready(end_observer, true, false, true);
        return;
    }
    if (!watch->wanted) {  // the server closed or used an idle connection: libcurl detects it itself
        update_epoll(poller, socket, watch, 0);
        return;
    }
    int events = 0;
    if (event->events & (EPOLLIN | EPOLLHUP)) events |= CURL_CSELECT_IN;
    if (event->events & EPOLLOUT) events |= CURL_CSELECT_OUT;
    if (event->events & EPOLLERR) events |= CURL_CSELECT_ERR;
    swcurl_multi_socket_action(poller->multi, socket, events);
}

static void report_unwatched(swcurl_poller *poller) {
    poller->has_unwatched = false;
    for (int socket = 0; socket < poller->count; socket++) {
        struct watch *watch = &poller->watches[socket];
        if (!watch->is_unwatched) continue;
        watch->is_unwatched = false;
        if (watch->owner) poller->on_ready(watch->owner, true, true, true);
        else swcurl_multi_socket_action(poller->multi, socket, CURL_CSELECT_IN | CURL_CSELECT_OUT | CURL_CSELECT_ERR);
    }
}

void swcurl_poller_run_timer(swcurl_poller *poller) {
    poller->time = now();
    if (poller->has_unwatched) report_unwatched(poller);
    if (poller->due >= 0 && poller->due <= poller->time) {
        poller->due = -1;
        swcurl_multi_socket_action(poller->multi, CURL_SOCKET_TIMEOUT, 0);
    }
    if (!poller->has_left_address) return;
    poller->has_left_address = false;
    swcurl_multi_drive_all(poller->multi);
}

bool swcurl_poller_take_stopped_reading(swcurl_poller *poller) {
    bool has_stopped_reading = poller->has_stopped_reading;
    poller->has_stopped_reading = false;
    return has_stopped_reading;
}

// Only for a transfer that shares its connection with no other, after swcurl_poller_forget.
static int socket_of(const swcurl_poller *poller, const void *easy) {
    for (int socket = 0; socket < poller->count; socket++)
        if (poller->watches[socket].reader == easy) return socket;
    return -1;
}

void swcurl_poller_forget(swcurl_poller *poller, const void *easy) {
    for (int socket = 0; socket < poller->count; socket++)
        if (poller->watches[socket].reader == easy) poller->watches[socket].reader = NULL;
}

int swcurl_poller_upgraded(swcurl_poller *poller, const void *easy, int last) {
    bool is_last = last >= 0 && last < poller->count && poller->watches[last].reader == easy;
    int socket = is_last ? last : socket_of(poller, easy);
    if (socket >= 0) poller->watches[socket].reports_stop = true;
    return socket;
}

// Returns the connection of a transfer if libcurl waits for one of these events, or -1.
static int connection_of(const swcurl_poller *poller, void *easy, uint8_t events) {
    int found = socket_of(poller, easy);
    // The reader of a shared connection may be another transfer, or have left it. A Unix-domain socket has no address.
    if (found >= 0 && swcurl_easy_uses_socket(easy, found)) return found;
    for (int socket = 0; socket < poller->count; socket++) {
        const struct watch *watch = &poller->watches[socket];
        if (watch->is_connection && watch->wanted & events && swcurl_easy_uses_socket(easy, socket)) return socket;
    }
    return found;
}

// The start of Linux's struct tcp_info, which is longer than that of some C libraries.
struct tcp_state {
    uint8_t states[8];
    uint32_t before[9], since_sent, since_acknowledging, since_received, since_acknowledged, after[11];
    uint64_t rates[2], acknowledged;
};

// Returns the socket of the state, or -1.
static int get_state(const swcurl_poller *poller, void *easy, struct tcp_state *state) {
    socklen_t size = sizeof *state;
    int socket = connection_of(poller, easy, CURL_POLL_IN | CURL_POLL_OUT);
    if (socket < 0 || getsockopt(socket, IPPROTO_TCP, TCP_INFO, state, &size) != 0 || size < sizeof *state) return -1;
    return socket;
}

int64_t swcurl_poller_acknowledged(const swcurl_poller *poller, void *easy, uint32_t *milliseconds, bool *is_queued) {
    struct tcp_state state;
    int queued = 0, socket = get_state(poller, easy, &state);
    *is_queued = socket >= 0 && ioctl(socket, TIOCOUTQ, &queued) == 0 && queued > 0;
    if (socket < 0) return -1;
    // The answers to probes of a full receiver acknowledge nothing, and no probe counts as sent bytes.
    *milliseconds = state.since_sent > state.since_acknowledged ? state.since_sent : state.since_acknowledged;
    return (int64_t)state.acknowledged;
}

int64_t swcurl_poller_silence(const swcurl_poller *poller, void *easy) {
    struct tcp_state state;
    if (get_state(poller, easy, &state) < 0) return -1;
    // The number of retransmissions and of probes without an answer. Without a route, the system only probes. One probe may be
    // under way to a peer whose window is full.
    bool is_unanswered = state.states[2] > 0 || state.states[3] > 1;
    return is_unanswered ? (int64_t)state.since_acknowledged : -1;
}

void swcurl_poller_read(swcurl_poller *poller, void *easy) {
    int found = connection_of(poller, easy, CURL_POLL_IN);
    if (found >= 0) swcurl_multi_socket_action(poller->multi, found, CURL_CSELECT_IN);
}

int swcurl_poller_observe_end(
    swcurl_poller *poller, const void *easy, void *end_observer, swcurl_ready_callback on_ready
) {
    int socket = socket_of(poller, easy);
    // libcurl may have stopped reading already.
    for (int other = 0; socket < 0 && other < poller->count; other++)
        if (poller->watches[other].is_connection && swcurl_easy_uses_socket((void *)easy, other)) socket = other;
    if (socket < 0) return -1;
    struct watch *watch = &poller->watches[socket];
    watch->end_observer = end_observer;
    poller->on_ready = on_ready;
    if (!(watch->wanted & CURL_POLL_IN)) update_epoll(poller, socket, watch, watch->wanted | POLL_END);
    return socket;
}

void swcurl_poller_unobserve_end(swcurl_poller *poller, int socket, const void *end_observer) {
    if (socket >= 0 && poller->watches[socket].end_observer == end_observer) poller->watches[socket].end_observer = NULL;
}

int swcurl_poller_take(
    swcurl_poller *poller, const void *easy, void *owner, swcurl_ready_callback on_ready
) {
    int socket = socket_of(poller, easy);
    if (socket < 0) return -1;
    int taken = fcntl(socket, F_DUPFD_CLOEXEC, 0);
    int placeholder = unconnected_socket();
    struct watch *watch = taken < 0 || placeholder < 0 ? NULL : watch_of(poller, taken);
    if (!watch) goto failed;
    *watch = (struct watch){.owner = owner, .wanted = CURL_POLL_IN | POLL_END};
    if (!try_epoll(poller, taken, watch, watch->wanted)) {
        *watch = (struct watch){0};
        goto failed;
    }
    update_epoll(poller, socket, &poller->watches[socket], 0);
    // The number that libcurl has becomes a socket without a peer, so libcurl can neither read from the connection nor
    // end it.
    if (dup3(placeholder, socket, O_CLOEXEC) < 0) {
        update_epoll(poller, taken, watch, 0);
        *watch = (struct watch){0};
        update_epoll(poller, socket, &poller->watches[socket], poller->watches[socket].wanted);
        goto failed;
    }
    close(placeholder);
    poller->on_ready = on_ready;
    return taken;
failed:
    if (taken >= 0) close(taken);
    if (placeholder >= 0) close(placeholder);
    return -1;
}

void swcurl_poller_watch(swcurl_poller *poller, int socket, bool reads, bool writes) {
    struct watch *watch = &poller->watches[socket];
    watch->wanted = (reads ? CURL_POLL_IN : 0) | (writes ? CURL_POLL_OUT : 0) | POLL_END;
    update_epoll(poller, socket, watch, watch->wanted);
}

void swcurl_poller_close(swcurl_poller *poller, int socket) { close_socket(poller, socket); }

int64_t swcurl_poller_due(const swcurl_poller *poller) {
    return poller->has_unwatched || poller->has_left_address ? 0 : poller->due;
}

int swcurl_poller_wait(swcurl_poller *poller, int milliseconds) {
    poller->has_closed_socket = false;
    swcurl_poller_unlock(poller);
    int count = epoll_wait(poller->epoll, poller->events, 64, milliseconds);
    swcurl_poller_lock(poller);
    return poller->has_closed_socket ? epoll_wait(poller->epoll, poller->events, 64, 0) : count;
}

void swcurl_poller_handle_events(swcurl_poller *poller, int count) {
    poller->time = now();
    for (int index = 0; index < count; index++) handle_event(poller, &poller->events[index]);
    swcurl_poller_run_timer(poller);
}

uint64_t swcurl_poller_time(const swcurl_poller *poller) { return (uint64_t)poller->time; }

void swcurl_poller_lock(swcurl_poller *poller) { pthread_mutex_lock(&poller->lock); }
bool swcurl_poller_try_lock(swcurl_poller *poller) { return pthread_mutex_trylock(&poller->lock) == 0; }
void swcurl_poller_unlock(swcurl_poller *poller) { pthread_mutex_unlock(&poller->lock); }

static __thread const swcurl_poller *entered;

void swcurl_poller_enter(const swcurl_poller *poller) { entered = poller; }
bool swcurl_poller_is_entered(const swcurl_poller *poller) { return entered == poller; }

void swcurl_poller_wake(swcurl_poller *poller) {
    uint64_t one = 1;
    if (write(poller->wake, &one, sizeof one) < 0) return;
}

struct start {
    void (*body)(void *);
    void *context;
};

static void *run(void *context) {
    struct start start = *(struct start *)context;
    free(context);
    pthread_setname_np(pthread_self(), "SwitchboardCurl");
    start.body(start.context);
    return NULL;
}

int32_t swcurl_start_thread(void (*body)(void *), void *context) {
    struct start *start = malloc(sizeof *start);
    if (!start) return ENOMEM;
    *start = (struct start){body, context};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    pthread_t thread;
    int code = pthread_create(&thread, &attributes, run, start);
    pthread_attr_destroy(&attributes);
    if (code != 0) free(start);
    return code;
}
#endif
