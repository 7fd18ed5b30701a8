// Makes the n-th allocation of SwitchboardCurlC, and of libcurl below it, fail. `scripts/packages/torture` builds it with the
// sources of the module, whose `malloc` is `failing_malloc`, and with the address sanitizer. Each run must end in the right
// body or an error, without a leak, and the next run without a failure must have the right body.
#define _GNU_SOURCE
#include "SwitchboardCurlC.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    CURLOPT_URL = 10002, CURLOPT_HTTPHEADER = 10023, CURLOPT_CURLU = 10282, CURLOPT_NOSIGNAL = 99,
    CURLOPT_CAINFO_BLOB = 40309, CURLOPT_UPLOAD = 46, CURLOPT_INFILESIZE_LARGE = 30115, CURLOPT_PROXY = 10004,
    CURLMOPT_MAXCONNECTS = 6,
};

// MARK: Allocations

static bool is_armed;
static long count, failing_index, live;

static bool fails(void) { return is_armed && ++count == failing_index; }
static bool has_failed(void) { return is_armed && count >= failing_index; }

void *failing_malloc(size_t size) {
    void *block = fails() ? NULL : malloc(size);
    live += block != NULL;
    return block;
}
void *failing_calloc(size_t number, size_t size) {
    void *block = fails() ? NULL : calloc(number, size);
    live += block != NULL;
    return block;
}
void *failing_realloc(void *old, size_t size) {
    void *block = fails() ? NULL : realloc(old, size);
    live += block && !old;
    return block;
}
void failing_free(void *block) {
    live -= block != NULL;
    free(block);
}
static char *failing_strdup(const char *text) {
    char *copy = failing_malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

// MARK: The server

static char url[64];

static void answer(int socket) {
    static const char response[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    char text[4096];
    size_t size = 0;
    ssize_t received;
    while ((received = read(socket, text + size, sizeof text - 1 - size)) > 0) {
        text[size += (size_t)received] = 0;
        char *end = strstr(text, "\r\n\r\n");
        if (!end) continue;
        int expected = strstr(text, "Content-Length: 3\r\n") ? 3 : strstr(text, "X-Kind: taken\r\n") ? 1 : 0;
        if (end + 4 + expected > text + size) continue;
        if (write(socket, response, sizeof response - 1) < 0) break;
        size = 0;
    }
    _exit(0);
}

static void serve(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 16)) abort();
    getsockname(listener, (struct sockaddr *)&address, &size);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(address.sin_port));
    int life[2];
    if (pipe2(life, O_CLOEXEC)) abort();
    if (fork() == 0) {
        signal(SIGCHLD, SIG_IGN);
        if (fork() == 0) {  // ends the server with the driver, whose end of the pipe closes
            close(life[1]);
            char byte;
            if (read(life[0], &byte, 1) <= 0) kill(getppid(), SIGKILL);
            _exit(0);
        }
        close(life[1]);
        while (true) {
            int connection = accept(listener, NULL, NULL);
            if (connection >= 0 && fork() == 0) answer(connection);
            close(connection);
        }
    }
    close(listener);
    close(life[0]);
}

// MARK: One transfer

enum kind { GET, PUT, TAKEN };

struct transfer {
    void *self;  // as for swcurl_easy_set_context
    void *easy, *parsed, *list;
    char body[16];
    size_t size, sent;
};

static size_t on_header(char *data, size_t size, size_t number, void *context) {
    (void)data, (void)context;
    return size * number;
}
static size_t on_write(char *data, size_t size, size_t number, void *context) {
    struct transfer *transfer = context;
    size_t total = size * number;
    if (transfer->size + total > sizeof transfer->body) return 0;
    memcpy(transfer->body + transfer->size, data, total);
    transfer->size += total;
    return total;
}
static size_t on_read(char *data, size_t size, size_t number, void *context) {
    struct transfer *transfer = context;
    size_t total = size * number < 3 - transfer->sent ? size * number : 3 - transfer->sent;
    memset(data, 'x', total);
    transfer->sent += total;
    return total;
}
static int on_seek(void *context, int64_t offset, int origin) {
    (void)origin;
    ((struct transfer *)context)->sent = (size_t)offset;
    return 0;
}
static int on_prerequest(void *context, char *remote, char *local, int remote_port, int local_port) {
    (void)context, (void)remote, (void)local, (void)remote_port, (void)local_port;
    return 0;
}
static int on_lookup(void *state, void *reserved, void *context) {
    (void)state, (void)reserved, (void)context;
    return 0;
}
static int on_connect(void *context, int socket, int purpose) {
    (void)context, (void)socket, (void)purpose;
    return 0;
}
static void on_stream(void *context, int64_t stream, bool is_last) { (void)context, (void)stream, (void)is_last; }
static void on_ready(void *owner, bool can_read, bool can_write, bool is_closed) {
    (void)can_write;
    if (can_read || is_closed) *(bool *)owner = true;
}

static bool prepare(struct transfer *transfer, swcurl_poller *poller, enum kind kind) {
    *transfer = (struct transfer){.self = transfer};
    void *easy = transfer->easy = swcurl_easy_make();
    if (!easy) return false;
    swcurl_easy_set_callbacks(
        easy, on_header, on_write, on_read, on_seek, on_prerequest, on_lookup, on_connect, on_stream);
    swcurl_easy_set_context(easy, transfer);
    swcurl_poller_adopt(poller, easy);
    const char *lines[] = {"Expect:", kind == TAKEN ? "X-Kind: taken" : "X-Kind: other"};
    for (int index = 0; index < 2; index++) {
        void *list = swcurl_list_append(transfer->list, lines[index]);
        if (!list) return false;
        transfer->list = list;
    }
    return (transfer->parsed = swcurl_url_make(url)) && swcurl_easy_set_text(easy, CURLOPT_URL, url) == 0
        && swcurl_easy_set_text(easy, CURLOPT_PROXY, "") == 0
        && swcurl_easy_set_pointer(easy, CURLOPT_CURLU, transfer->parsed) == 0
        && swcurl_easy_set_pointer(easy, CURLOPT_HTTPHEADER, transfer->list) == 0
        && swcurl_easy_set_blob(easy, CURLOPT_CAINFO_BLOB, "authority", 9) == 0
        && swcurl_easy_set_long(easy, CURLOPT_NOSIGNAL, 1) == 0
        && swcurl_easy_set_long(easy, CURLOPT_UPLOAD, kind == PUT) == 0
        && (kind != PUT || swcurl_easy_set_offset(easy, CURLOPT_INFILESIZE_LARGE, 3) == 0);
}

static void end(struct transfer *transfer) {
    if (transfer->easy) swcurl_easy_free(transfer->easy);
    if (transfer->parsed) swcurl_url_free(transfer->parsed);
    swcurl_list_free(transfer->list);
}

/// Runs libcurl once.
static void turn(swcurl_poller *poller) {
    swcurl_poller_run_timer(poller);
    swcurl_poller_handle_events(poller, swcurl_poller_wait(poller, 20));
}

/// Runs libcurl once. Returns false after the deadline of a run whose allocation has failed. The library has a deadline too,
/// because libcurl without memory may forget its timer. Any other run ends, or the alarm reports that it hangs.
static bool turn_until(swcurl_poller *poller, uint64_t deadline) {
    turn(poller);
    return !has_failed() || swcurl_poller_time(poller) < deadline;
}

static uint64_t deadline_of(swcurl_poller *poller) {
    swcurl_poller_run_timer(poller);
    return swcurl_poller_time(poller) + 300000000;
}

enum outcome { VALUE, ERROR, WRONG };

static enum outcome transfer(void *multi, swcurl_poller *poller, enum kind kind) {
    struct transfer transfer;
    enum outcome outcome = ERROR;
    if (prepare(&transfer, poller, kind) && swcurl_multi_add(multi, transfer.easy) == 0) {
        void *ended;
        int32_t result = 0;
        uint64_t deadline = deadline_of(poller);
        while (!(ended = swcurl_multi_next_ended(multi, &result)) && turn_until(poller, deadline)) {}
        if (ended && ended != &transfer) outcome = WRONG;
        else if (ended && result == 0) {
            bool is_right = transfer.size == 5 && memcmp(transfer.body, "hello", 5) == 0 && transfer.sent == (kind == PUT ? 3 : 0);
            outcome = is_right && swcurl_easy_info(transfer.easy).http_version > 0 ? VALUE : WRONG;
        }
        swcurl_multi_remove(multi, transfer.easy);
    }
    end(&transfer);
    return outcome;
}

/// Takes the connection from libcurl, as a WebSocket does, and receives the response, which the server sends after a byte.
static enum outcome take(void *multi, swcurl_poller *poller) {
    struct transfer transfer;
    enum outcome outcome = ERROR;
    bool is_ready = false;
    if (prepare(&transfer, poller, TAKEN) && swcurl_multi_add(multi, transfer.easy) == 0) {
        int32_t result = 0;
        int socket = -1;
        uint64_t deadline = deadline_of(poller);
        while (swcurl_poller_upgraded(poller, transfer.easy, -1) < 0 && !swcurl_multi_next_ended(multi, &result)
            && turn_until(poller, deadline)) {}
        if (swcurl_poller_upgraded(poller, transfer.easy, -1) >= 0) socket = swcurl_poller_take(poller, transfer.easy, &is_ready, on_ready);
        char text[256];
        if (socket >= 0) {
            if (swcurl_socket_send(socket, "x", 1) != 1) abort();
            while (!is_ready) turn(poller);
            ssize_t size = swcurl_socket_receive(socket, text, sizeof text);
            outcome = size > 5 && memcmp(text + size - 5, "hello", 5) == 0 ? VALUE : WRONG;
        }
        swcurl_multi_remove(multi, transfer.easy);
        if (socket >= 0) swcurl_poller_close(poller, socket);
    }
    end(&transfer);
    return outcome;
}

static void post(void *semaphore) { sem_post(semaphore); }

static enum outcome run(void) {
    enum outcome outcome = ERROR;
    static sem_t has_run;
    sem_init(&has_run, 0, 0);
    if (swcurl_start_thread(post, &has_run) != 0) return ERROR;
    sem_wait(&has_run);
    void *multi = swcurl_multi_make();
    if (!multi) return ERROR;
    swcurl_poller *poller = swcurl_poller_make(multi);
    if (poller) {
        swcurl_poller_lock(poller);
        if (swcurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 4) == 0) outcome = transfer(multi, poller, GET);
        if (outcome == VALUE) outcome = transfer(multi, poller, PUT);
        if (outcome == VALUE) outcome = take(multi, poller);
        // The next socket needs a larger table of the poller.
        int high = outcome == VALUE ? fcntl(0, F_DUPFD_CLOEXEC, 64) : -1;
        int taken[128], number = 0;
        if (high >= 0)
            while (number < 128 && (taken[number] = dup(0)) < 64) number++;
        if (outcome == VALUE) outcome = take(multi, poller);
        if (high >= 0) close(high), close(taken[number]);
        while (number-- > 0) close(taken[number]);
        swcurl_poller_unlock(poller);
    }
    swcurl_multi_free(multi);
    if (poller) swcurl_poller_free(poller);
    return outcome;
}

// MARK: All cases

static int failures;

static void fail(long index, const char *reason) {
    printf("FAILED allocations:%ld: %s\n", index, reason);
    failures++;
}

static void on_alarm(int signal) {
    (void)signal;
    fail(failing_index, "hangs");
    _exit(3);
}

static int lowest_descriptor(void) {
    int descriptor = dup(0);
    close(descriptor);
    return descriptor;
}

int main(int argc, char **argv) {
    long only = argc > 1 ? atol(argv[1]) : 0;
    signal(SIGALRM, on_alarm);
    setvbuf(stdout, NULL, _IOLBF, 0);
    serve();
    void *library = dlopen("libcurl.so.4", RTLD_NOW);
    int (*initialize)(long, void *(*)(size_t), void (*)(void *), void *(*)(void *, size_t), char *(*)(const char *),
        void *(*)(size_t, size_t)) = library ? dlsym(library, "curl_global_init_mem") : NULL;
    if (!initialize || initialize(3, failing_malloc, failing_free, failing_realloc, failing_strdup, failing_calloc) != 0) return 64;
    const char *reason = swcurl_load("libcurl.so.4");
    if (reason) return fprintf(stderr, "allocations: %s\n", reason), 64;
    alarm(60);
    for (int index = 0; index < 2; index++)
        if (run() != VALUE) return fprintf(stderr, "allocations: FAILED without a fault\n"), 1;
    long cases = 0, values = 0, errors = 0, total = 0, before = live;
    int descriptor = lowest_descriptor();
    for (long index = only ? only : 1;; index++) {
        alarm(60);
        count = 0, failing_index = index, is_armed = true;
        enum outcome outcome = run();
        is_armed = false;
        if (count < index) {
            if (outcome != VALUE) fail(index, "a run without its fault fails");
            break;
        }
        cases++, total = count > total ? count : total;
        values += outcome == VALUE, errors += outcome == ERROR;
        if (outcome == WRONG) fail(index, "the result is wrong");
        if (live != before) fail(index, "blocks are not freed");
        if (lowest_descriptor() != descriptor) fail(index, "a descriptor is open");
        before = live, descriptor = lowest_descriptor();
        if (run() != VALUE) fail(index, "the next run fails");
        if (only) break;
    }
    printf("allocations: %ld cases, %ld values, %ld errors, %d failures\n    calls: allocation %ld\n",
        cases, values, errors, failures, total);
    return failures ? 1 : 0;
}
