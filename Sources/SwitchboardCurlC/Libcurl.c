#if defined(__linux__) && !defined(__ANDROID__)
#include "SwitchboardCurlC.h"
#include "Internal.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

// The declarations of libcurl's headers. Numbers and layouts are part of its ABI, which has not changed since
// libcurl.so.4 (2006). The names are libcurl's.

typedef struct {
    int msg;
    void *easy;
    union { void *whatever; int result; } data;
} CURLMsg;

typedef struct {
    int age;
    const char *version;
    unsigned int version_num;
    const char *host;
    int features;
} curl_version_info_data;

struct curl_blob { void *data; size_t len; unsigned int flags; };

enum {
    CURL_GLOBAL_DEFAULT = 3, CURLVERSION_FIRST = 0, CURLMSG_DONE = 1, CURL_BLOB_COPY = 1,
    CURLOPT_WRITEDATA = 10001, CURLOPT_READDATA = 10009, CURLOPT_HEADERDATA = 10029, CURLOPT_PRIVATE = 10103,
    CURLOPT_SEEKDATA = 10168, CURLOPT_PREREQDATA = 10313, CURLOPT_SOCKOPTDATA = 10149, CURLOPT_DEBUGDATA = 10095,
    CURLOPT_RESOLVER_START_DATA = 10273, CURLUPART_URL = 0, CURLU_PATH_AS_IS = 16,
    CURLOPT_WRITEFUNCTION = 20011, CURLOPT_READFUNCTION = 20012, CURLOPT_HEADERFUNCTION = 20079,
    CURLOPT_SEEKFUNCTION = 20167, CURLOPT_PREREQFUNCTION = 20312, CURLOPT_SOCKOPTFUNCTION = 20148,
    CURLOPT_RESOLVER_START_FUNCTION = 20272,
    CURLOPT_DEBUGFUNCTION = 20094, CURLOPT_VERBOSE = 41, CURLOPT_MAXREDIRS = 68, CURLINFO_TEXT = 0, CURLINFO_HEADER_OUT = 2,
    CURLINFO_PRIVATE = 0x100000 + 21, CURLINFO_PRIMARY_IP = 0x100000 + 32, CURLINFO_CAINFO = 0x100000 + 61,
    CURLINFO_CAPATH = 0x100000 + 62,
    CURLINFO_NUM_CONNECTS = 0x200000 + 26, CURLINFO_PRIMARY_PORT = 0x200000 + 40,
    CURLINFO_LOCAL_PORT = 0x200000 + 42, CURLINFO_HTTP_VERSION = 0x200000 + 46,
    CURLINFO_SIZE_UPLOAD_T = 0x600000 + 7, CURLINFO_SIZE_DOWNLOAD_T = 0x600000 + 8,
    CURLINFO_NAMELOOKUP_TIME_T = 0x600000 + 51,
    CURLINFO_CONNECT_TIME_T = 0x600000 + 52,
    CURLINFO_APPCONNECT_TIME_T = 0x600000 + 56,
};

#define FUNCTIONS(X) \
    X(int, curl_global_init, (long)) \
    X(curl_version_info_data *, curl_version_info, (int)) \
    X(void *, curl_easy_init, (void)) \
    X(void, curl_easy_cleanup, (void *)) \
    X(int, curl_easy_setopt, (void *, int, ...)) \
    X(int, curl_easy_getinfo, (void *, int, ...)) \
    X(int, curl_easy_pause, (void *, int)) \
    X(const char *, curl_easy_strerror, (int)) \
    X(void *, curl_url, (void)) \
    X(void, curl_url_cleanup, (void *)) \
    X(int, curl_url_set, (void *, int, const char *, unsigned int)) \
    X(void *, curl_slist_append, (void *, const char *)) \
    X(void, curl_slist_free_all, (void *)) \
    X(void *, curl_multi_init, (void)) \
    X(int, curl_multi_cleanup, (void *)) \
    X(int, curl_multi_setopt, (void *, int, ...)) \
    X(int, curl_multi_add_handle, (void *, void *)) \
    X(int, curl_multi_remove_handle, (void *, void *)) \
    X(CURLMsg *, curl_multi_info_read, (void *, int *)) \
    X(int, curl_multi_socket_action, (void *, int, int, int *)) \
    X(int, curl_multi_socket_all, (void *, int *))

#define X(type, function, parameters) type(*function) parameters;
static struct functions {
    FUNCTIONS(X)
} curl;
#undef X

// MARK: The library

static const char *load(const char *name, char *message, size_t size, struct functions *into) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        // The text of musl's dlopen in a static program.
        if (reason && strcmp(reason, "Dynamic loading not supported") == 0) reason = "a statically linked program cannot load libcurl";
        snprintf(message, size, "%s", reason ? reason : "it cannot be loaded");
        return message;
    }
    struct functions found;
#define X(type, function, parameters) \
    found.function = (type(*) parameters)dlsym(library, #function); \
    if (!found.function) { \
        snprintf(message, size, "%s has no %s", name, #function); \
        dlclose(library); \
        return message; \
    }
    FUNCTIONS(X)
#undef X
    const curl_version_info_data *version = found.curl_version_info(CURLVERSION_FIRST);
    if (version->version_num < 0x074E00) {
        snprintf(message, size, "libcurl %s is older than 7.78.0", version->version);
        dlclose(library);
        return message;
    }
    *into = found;
    return NULL;
}

// glibc returns the free end of a heap to the system when it exceeds 128 KiB. The transfers that end in one pass of the
// loop free more, so glibc would return the same pages in each pass, and the next transfers would fault them in again.
// Freeing a large block makes glibc raise this threshold to twice the size of the block.
static void raise_trim_threshold(void) {
    void *volatile block = malloc(1 << 20);
    free(block);
}

static atomic_bool is_loaded;

static const char *load_and_initialize(const char *name, char *message, size_t size) {
    const char *failure = load(name, message, size, &curl);
    if (failure) return failure;
    swcurl_set_blocks_sigpipe(swcurl_version_number() < 0x075700);
    raise_trim_threshold();
    if (curl.curl_global_init(CURL_GLOBAL_DEFAULT) != 0) return "libcurl cannot be initialized";
    is_loaded = true;
    return NULL;
}

const char *swcurl_load(const char *name) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static __thread char message[512];
    if (is_loaded) return NULL;
    pthread_mutex_lock(&lock);
    const char *failure = is_loaded ? NULL : load_and_initialize(name, message, sizeof message);
    pthread_mutex_unlock(&lock);
    return failure;
}

// The system gives the lowest free number.
bool swcurl_is_reserved(int descriptor) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return false;
    rlim_t reserve = limit.rlim_cur / 8 < 16 ? limit.rlim_cur / 8 : 16;
    return (rlim_t)descriptor >= limit.rlim_cur - reserve;
}

bool swcurl_has_descriptors(void) {
    int descriptor = eventfd(0, EFD_CLOEXEC);
    if (descriptor >= 0) close(descriptor);
    return descriptor >= 0 && !swcurl_is_reserved(descriptor);
}

extern char **environ;

bool swcurl_has_proxy_variable(void) {
    for (char **variable = environ; variable && *variable; variable++) {
        size_t length = strcspn(*variable, "=");
        if (length >= 6 && strncasecmp(*variable + length - 6, "_proxy", 6) == 0) return true;
    }
    return false;
}

const char *swcurl_try_load(const char *name) {
    static __thread char message[512];
    struct functions found;
    return load(name, message, sizeof message, &found);
}

uint32_t swcurl_version_number(void) { return curl.curl_version_info(CURLVERSION_FIRST)->version_num; }
const char *swcurl_version_text(void) { return curl.curl_version_info(CURLVERSION_FIRST)->version; }
int32_t swcurl_features(void) { return curl.curl_version_info(CURLVERSION_FIRST)->features; }
const char *swcurl_error_text(int32_t code) { return curl.curl_easy_strerror(code); }

static const char *get_string(void *easy, int info) {
    const char *text = NULL;
    return curl.curl_easy_getinfo(easy, info, &text) == 0 ? text : NULL;
}

const char *swcurl_default_ca_file(void *easy) { return get_string(easy, CURLINFO_CAINFO); }
const char *swcurl_default_ca_folder(void *easy) { return get_string(easy, CURLINFO_CAPATH); }

// MARK: One transfer

void *swcurl_easy_make(void) { return curl.curl_easy_init(); }
void swcurl_easy_free(void *easy) { QUIETLY((curl.curl_easy_cleanup(easy), 0)); }

int32_t swcurl_easy_set_long(void *easy, int32_t option, long value) {
    return curl.curl_easy_setopt(easy, option, value);
}
int32_t swcurl_easy_set_offset(void *easy, int32_t option, int64_t value) {
    return curl.curl_easy_setopt(easy, option, value);
}
int32_t swcurl_easy_set_text(void *easy, int32_t option, const char *value) {
    return curl.curl_easy_setopt(easy, option, value);
}
int32_t swcurl_easy_set_pointer(void *easy, int32_t option, void *value) {
    return curl.curl_easy_setopt(easy, option, value);
}
int32_t swcurl_easy_set_blob(void *easy, int32_t option, const void *bytes, size_t size) {
    struct curl_blob blob = {(void *)bytes, size, CURL_BLOB_COPY};
    return curl.curl_easy_setopt(easy, option, &blob);
}

void *swcurl_url_make(const char *text) {
    void *url = curl.curl_url();
    if (url && curl.curl_url_set(url, CURLUPART_URL, text, CURLU_PATH_AS_IS) != 0) {
        curl.curl_url_cleanup(url);
        return NULL;
    }
    return url;
}
void swcurl_url_free(void *url) { curl.curl_url_cleanup(url); }

static swcurl_prerequest_callback on_head_sent;
static swcurl_stream_callback _Atomic on_stream;  // the same for all transfers

// Finds the streams in libcurl's verbose texts: "Using Stream ID: 1 (...)" or "[HTTP/2] [1] OPENED stream for ...", and
// "received GOAWAY, error=0, last_stream=1", which 7.88 misspells. Other texts repeat fields of requests, so a text must begin
// with these words.
static void read_text(const char *data, size_t size, void *context) {
    char text[96];
    snprintf(text, sizeof text, "%.*s", (int)(size < sizeof text ? size : sizeof text - 1), data);
    unsigned int stream, error;
    int end = 0;
    const char *goaway = strncmp(text, "[HTTP/2] ", 9) == 0 ? text + 9 : text;
    if (sscanf(text, "Using Stream ID: %u", &stream) == 1
        || (sscanf(text, "[HTTP/2] [%u] OPENED stream%n", &stream, &end) == 1 && end > 0))
        on_stream(context, stream, false);
    else if (
        sscanf(goaway, "received GOAWAY, error=%u, last_stream=%u", &error, &stream) == 2
        || sscanf(goaway, "recveived GOAWAY, error=%u, last_stream=%u", &error, &stream) == 2)
        on_stream(context, stream, true);
}

static int on_debug(void *easy, int type, char *data, size_t size, void *context) {
    if (!context) return 0;
    if (type == CURLINFO_TEXT) read_text(data, size, context);
    // Replaces CURLOPT_PREREQFUNCTION before 7.80: receives each head after it was sent.
    bool is_request = type == CURLINFO_HEADER_OUT && !(size > 8 && memcmp(data, "CONNECT ", 8) == 0);
    if (is_request && on_head_sent) on_head_sent(context, NULL, NULL, 0, 0);
    return 0;
}

void swcurl_easy_set_callbacks(
    void *easy, swcurl_data_callback header, swcurl_data_callback write, swcurl_data_callback read,
    swcurl_seek_callback seek, swcurl_prerequest_callback prerequest, swcurl_lookup_callback look_up,
    swcurl_socket_callback connect, swcurl_stream_callback stream) {
    if (stream) on_stream = stream;
    curl.curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, on_debug);
    curl.curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header);
    curl.curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, write);
    curl.curl_easy_setopt(easy, CURLOPT_READFUNCTION, read);
    curl.curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, seek);
    curl.curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, look_up);
    curl.curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, connect);
    if (curl.curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, prerequest) == 0) return;
    // on_debug cannot refuse a request. libcurl counts a repeated request after a 417 as a redirect, so redirects are
    // limited to none.
    curl.curl_easy_setopt(easy, CURLOPT_MAXREDIRS, 0L);
    on_head_sent = prerequest;
    curl.curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
}

void swcurl_easy_set_context(void *easy, void *context) {
    curl.curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
    curl.curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
    curl.curl_easy_setopt(easy, CURLOPT_READDATA, context);
    curl.curl_easy_setopt(easy, CURLOPT_SEEKDATA, context);
    curl.curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
    curl.curl_easy_setopt(easy, CURLOPT_RESOLVER_START_DATA, context);
    curl.curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, context);
    curl.curl_easy_setopt(easy, CURLOPT_DEBUGDATA, context);
    curl.curl_easy_setopt(easy, CURLOPT_PRIVATE, context);
}

int32_t swcurl_easy_pause(void *easy, int32_t bitmask) {
    return QUIETLY(curl.curl_easy_pause(easy, bitmask));
}

static int64_t get_offset(void *easy, int info) {
    int64_t number = -1;
    return curl.curl_easy_getinfo(easy, info, &number) == 0 ? number : -1;
}

static long get_long(void *easy, int info) {
    long number = 0;
    return curl.curl_easy_getinfo(easy, info, &number) == 0 ? number : 0;
}

void swcurl_easy_watch_streams(void *easy, bool watches) {
    if (!on_head_sent) curl.curl_easy_setopt(easy, CURLOPT_VERBOSE, (long)watches);
}

bool swcurl_easy_share_connection(void *one, void *other) {
    const char *address = get_string(one, CURLINFO_PRIMARY_IP), *other_address = get_string(other, CURLINFO_PRIMARY_IP);
    long port = get_long(one, CURLINFO_LOCAL_PORT);
    return port > 0 && port == get_long(other, CURLINFO_LOCAL_PORT)
        && get_long(one, CURLINFO_PRIMARY_PORT) == get_long(other, CURLINFO_PRIMARY_PORT)
        && address && other_address && strcmp(address, other_address) == 0;
}

// Reads the port and, if wanted, the text of an address.
static long read_address(const struct sockaddr_storage *address, char *text, socklen_t size) {
    bool is_ipv6 = address->ss_family == AF_INET6;
    if (!is_ipv6 && address->ss_family != AF_INET) return 0;
    const struct sockaddr_in *ipv4 = (const void *)address;
    const struct sockaddr_in6 *ipv6 = (const void *)address;
    const void *bytes = is_ipv6 ? (const void *)&ipv6->sin6_addr : &ipv4->sin_addr;
    if (text && !inet_ntop(address->ss_family, bytes, text, size)) return 0;
    return ntohs(is_ipv6 ? ipv6->sin6_port : ipv4->sin_port);
}

bool swcurl_easy_uses_socket(void *easy, int socket) {
    long port = get_long(easy, CURLINFO_LOCAL_PORT);
    struct sockaddr_storage local, remote;
    socklen_t size = sizeof local, remote_size = sizeof remote;
    if (port <= 0 || getsockname(socket, (struct sockaddr *)&local, &size) || read_address(&local, NULL, 0) != port
        || getpeername(socket, (struct sockaddr *)&remote, &remote_size)) return false;
    char text[INET6_ADDRSTRLEN];
    const char *address = get_string(easy, CURLINFO_PRIMARY_IP);
    return read_address(&remote, text, sizeof text) == get_long(easy, CURLINFO_PRIMARY_PORT) && address
        && strcmp(address, text) == 0;
}

long swcurl_easy_local_port(void *easy) { return get_long(easy, CURLINFO_LOCAL_PORT); }
long swcurl_easy_connects(void *easy) { return get_long(easy, CURLINFO_NUM_CONNECTS); }
int64_t swcurl_easy_downloaded(void *easy) { return get_offset(easy, CURLINFO_SIZE_DOWNLOAD_T); }
int64_t swcurl_easy_uploaded(void *easy) { return get_offset(easy, CURLINFO_SIZE_UPLOAD_T); }

swcurl_info swcurl_easy_info(void *easy) {
    swcurl_info info = {
        .sent = get_offset(easy, CURLINFO_SIZE_UPLOAD_T),
        .connects = get_long(easy, CURLINFO_NUM_CONNECTS),
        .http_version = get_long(easy, CURLINFO_HTTP_VERSION),
        .remote_port = get_long(easy, CURLINFO_PRIMARY_PORT),
        .remote_address = get_string(easy, CURLINFO_PRIMARY_IP),
    };
    if (info.connects == 0) return info;
    info.name_lookup = get_offset(easy, CURLINFO_NAMELOOKUP_TIME_T);
    info.connect = get_offset(easy, CURLINFO_CONNECT_TIME_T);
    info.app_connect = get_offset(easy, CURLINFO_APPCONNECT_TIME_T);
    return info;
}

void *swcurl_list_append(void *list, const char *line) { return curl.curl_slist_append(list, line); }
void swcurl_list_free(void *list) { curl.curl_slist_free_all(list); }

// MARK: Many transfers

void *swcurl_multi_make(void) { return curl.curl_multi_init(); }
void swcurl_multi_free(void *multi) { QUIETLY(curl.curl_multi_cleanup(multi)); }
int32_t swcurl_multi_set_long(void *multi, int32_t option, long value) {
    return curl.curl_multi_setopt(multi, option, value);
}
int32_t swcurl_multi_add(void *multi, void *easy) { return QUIETLY(curl.curl_multi_add_handle(multi, easy)); }
int32_t swcurl_multi_remove(void *multi, void *easy) {
    return QUIETLY(curl.curl_multi_remove_handle(multi, easy));
}

void *swcurl_multi_next_ended(void *multi, int32_t *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = QUIETLY(curl.curl_multi_info_read(multi, &left)))) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return *(void **)get_string(message->easy, CURLINFO_PRIVATE);
    }
    return NULL;
}

// MARK: For the poller

int swcurl_multi_socket_action(void *multi, int socket, int events) {
    int running = 0;
    return QUIETLY(curl.curl_multi_socket_action(multi, socket, events, &running));
}
bool swcurl_multi_leaves_addresses(void) {
    uint32_t version = swcurl_version_number();
    return version >= 0x075700 && version < 0x080400;
}
void swcurl_multi_drive_all(void *multi) {
    int running = 0;
    QUIETLY(curl.curl_multi_socket_all(multi, &running));
}
int swcurl_multi_set_pointer(void *multi, int option, void *value) {
    return curl.curl_multi_setopt(multi, option, value);
}
#endif
