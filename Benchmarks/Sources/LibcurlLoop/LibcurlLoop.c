#include "LibcurlLoop.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Copied from curl/curl.h, so that its headers need not be installed.
enum {
    CURLOPT_WRITEDATA = 10001, CURLOPT_URL = 10002, CURLOPT_WRITEFUNCTION = 20011, CURLOPT_HTTPHEADER = 10023,
    CURLOPT_HEADERFUNCTION = 20079, CURLOPT_HTTP_VERSION = 84, CURLOPT_BUFFERSIZE = 98, CURLOPT_NOSIGNAL = 99,
    CURLOPT_ACCEPT_ENCODING = 10102, CURLOPT_CONNECTTIMEOUT_MS = 156, CURLOPT_PATH_AS_IS = 234,
    CURLOPT_PREREQFUNCTION = 20312, CURLMOPT_MAXCONNECTS = 6,
};

struct message {
    int kind;
    void *easy;
    union { void *pointer; int result; } data;
};

static void *(*easy_init)(void), *(*multi_init)(void), *(*list_append)(void *, const char *);
static void (*easy_cleanup)(void *), (*list_free)(void *);
static int (*easy_setopt)(void *, int, ...), (*multi_setopt)(void *, int, ...);
static int (*multi_add)(void *, void *), (*multi_remove)(void *, void *), (*multi_cleanup)(void *);
static int (*multi_perform)(void *, int *), (*multi_poll)(void *, void *, unsigned, int, int *);
static struct message *(*multi_read)(void *, int *);

static _Bool load(void) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW);
    if (!library) return 0;
    struct { void *place; const char *name; } functions[] = {
        {&easy_init, "curl_easy_init"}, {&easy_cleanup, "curl_easy_cleanup"}, {&easy_setopt, "curl_easy_setopt"},
        {&multi_init, "curl_multi_init"}, {&multi_setopt, "curl_multi_setopt"}, {&multi_add, "curl_multi_add_handle"},
        {&multi_remove, "curl_multi_remove_handle"}, {&multi_cleanup, "curl_multi_cleanup"},
        {&multi_perform, "curl_multi_perform"}, {&multi_poll, "curl_multi_poll"},
        {&multi_read, "curl_multi_info_read"}, {&list_append, "curl_slist_append"}, {&list_free, "curl_slist_free_all"},
    };
    for (size_t index = 0; index < sizeof functions / sizeof *functions; index++) {
        void *symbol = dlsym(library, functions[index].name);
        if (!symbol) return 0;
        memcpy(functions[index].place, &symbol, sizeof symbol);
    }
    return 1;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// Copies the bytes, as every client must.
static size_t take(char *data, size_t size, size_t count, void *bytes) {
    char *copy = malloc(size * count);
    if (!copy) return 0;
    memcpy(copy, data, size * count);
    *(volatile long *)bytes += (long)(size * count);
    free(copy);
    return size * count;
}

static size_t take_line(char *data, size_t size, size_t count, void *context) { return size * count; }
static int accept_request(void *context, char *remote, char *local, int remote_port, int local_port) { return 0; }

_Bool libcurl_loop(const char *url, int in_flight, double seconds, struct libcurl_loop_result *result) {
    *result = (struct libcurl_loop_result){0};
    if (!load()) return 0;
    void *multi = multi_init(), **handles = calloc((size_t)in_flight, sizeof *handles);
    void *headers = list_append(list_append(NULL, "Accept: application/json"), "User-Agent: libcurl");
    multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)in_flight);
    for (int index = 0; index < in_flight; index++) {
        void *easy = handles[index] = easy_init();
        easy_setopt(easy, CURLOPT_URL, url);
        easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
        easy_setopt(easy, CURLOPT_WRITEDATA, &result->bytes);
        easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_line);
        easy_setopt(easy, CURLOPT_PREREQFUNCTION, accept_request);
        easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
        easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
        easy_setopt(easy, CURLOPT_HTTP_VERSION, 2L);
        easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
        easy_setopt(easy, CURLOPT_BUFFERSIZE, 32768L);
        easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 30000L);
        multi_add(multi, easy);
    }
    double start = now(), end = start + seconds;
    int running = in_flight;
    while (running > 0) {
        multi_perform(multi, &running);
        struct message *message;
        int left, ended = 0;
        _Bool goes_on = now() < end;
        while ((message = multi_read(multi, &left))) {
            void *easy = message->easy;
            result->errors += message->data.result != 0;
            result->requests++;
            ended++;
            multi_remove(multi, easy);
            if (goes_on && !result->errors) multi_add(multi, easy), running++;
        }
        if (!ended) multi_poll(multi, NULL, 0, 1000, NULL);
    }
    result->seconds = now() - start;
    for (int index = 0; index < in_flight; index++) easy_cleanup(handles[index]);
    multi_cleanup(multi);
    list_free(headers);
    free(handles);
    return 1;
}
