// Makes calls of the C library fail, and logs the changes of files. `scripts/packages/torture` builds and preloads it.
// The program under test starts and stops it between two of its own steps. It counts the calls of all threads.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define CALLS(X) \
    X(open) X(list) X(read) X(write) X(fsync) X(rename) X(unlink) X(mkdir) X(stat) X(flock) X(truncate) X(mmap) X(socket) \
    X(connect) X(send) X(receive) X(epoll_create) X(epoll_ctl) X(eventfd) X(dup) X(thread) X(random)
#define X(name) CALL_##name,
enum { CALLS(X) CALL_COUNT };
#undef X
#define X(name) #name,
static const char *const names[] = {CALLS(X)};
#undef X

enum { PASS = 0, SHORT = -1 };

static atomic_bool is_armed;
static atomic_long counts[CALL_COUNT];
static atomic_long delivered;
static int failing_call = -1;
static int failing_error;   // an errno, or SHORT
static long failing_index;  // from 1
static bool fails_onward;   // later calls fail too: after a short one with ENOSPC

// MARK: Control

/// Returns the name of a call, or null after the last.
const char *fault_name(int call) { return call < CALL_COUNT ? names[call] : NULL; }

/// Begins to count, and makes a call fail. Without a failing call, `call` is -1.
void fault_arm(int call, long index, int error, bool onward) {
    failing_call = call;
    failing_index = index;
    failing_error = error;
    fails_onward = onward;
    for (int each = 0; each < CALL_COUNT; each++) counts[each] = 0;
    delivered = 0;
    is_armed = true;
}

/// Ends the counting. Returns the number of calls that failed.
long fault_disarm(void) {
    is_armed = false;
    return delivered;
}

long fault_count(int call) { return counts[call]; }

static int decide_armed(int call) {
    long index = ++counts[call];
    if (call != failing_call || index < failing_index || (index > failing_index && !fails_onward)) return PASS;
    if (delivered++ == 0 && getenv("TORTURE_TRACE")) {
        void *frames[64];
        backtrace_symbols_fd(frames, backtrace(frames, 64), 2);
    }
    return failing_error == SHORT && index > failing_index ? ENOSPC : failing_error;
}

// libdispatch ends the process when its own calls fail: those of its timers, and of the thread that reads
// /proc/PID/task/TID/stat once a second while work waits.
static bool is_of_dispatch(void *caller) {
    Dl_info information;
    return dladdr(caller, &information) && information.dli_fname && strstr(information.dli_fname, "libdispatch");
}

// The outcome of a call: PASS, SHORT or an errno. Calls of libdispatch pass, and are not counted.
#define DECIDE(call) \
    (is_armed && !is_of_dispatch(__builtin_return_address(0)) ? decide_armed(CALL_##call) : PASS)

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name);

#define FAIL_IF(call, failure) \
    do { \
        int outcome = DECIDE(call); \
        if (outcome > 0) { errno = outcome; return failure; } \
    } while (0)

static bool is_regular(int descriptor) {
    struct stat information;
    int before = errno;
    REAL(fstat)
    bool result = real(descriptor, &information) == 0 && S_ISREG(information.st_mode);
    errno = before;
    return result;
}

// MARK: The log

// A record: the kind, the inode, an offset or a size, the lengths of two texts or bytes, and those.
struct record { int64_t kind, inode, offset, first, second; };
enum { LOG_CREATE = 1, LOG_WRITE, LOG_SYNC, LOG_RENAME, LOG_UNLINK, LOG_TRUNCATE, LOG_MKDIR, LOG_SYNC_FOLDER };

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *log_bytes;
static size_t log_size, log_room;
static bool is_logging;
static char log_folder[512];

/// Begins to log the changes of files in a folder.
void fault_log_start(const char *folder) {
    pthread_mutex_lock(&log_lock);
    snprintf(log_folder, sizeof log_folder, "%s", folder);
    log_size = 0;
    is_logging = true;
    pthread_mutex_unlock(&log_lock);
}

/// Ends the log. Returns its bytes, which are valid until the next start.
const uint8_t *fault_log_end(long *size) {
    pthread_mutex_lock(&log_lock);
    is_logging = false;
    *size = (long)log_size;
    pthread_mutex_unlock(&log_lock);
    return log_bytes;
}

static void log_append(const void *bytes, size_t size) {
    if (log_size + size > log_room) {
        log_room = (log_size + size) * 2;
        log_bytes = realloc(log_bytes, log_room);
        if (!log_bytes) abort();
    }
    memcpy(log_bytes + log_size, bytes, size);
    log_size += size;
}

static void log_record(int kind, int64_t inode, int64_t offset, const void *first, size_t first_size, const char *second) {
    size_t second_size = second ? strlen(second) : 0;
    struct record record = {kind, inode, offset, (int64_t)first_size, (int64_t)second_size};
    log_append(&record, sizeof record);
    log_append(first, first_size);
    if (second) log_append(second, second_size);
}

static bool is_logged(const char *path) {
    return is_logging && strncmp(path, log_folder, strlen(log_folder)) == 0;
}

static int64_t inode_of(int descriptor) {
    struct stat information;
    REAL(fstat)
    return real(descriptor, &information) == 0 ? (int64_t)information.st_ino : 0;
}

// The lock is held from before a change until after its record, so that the records have the order of the changes.
#define LOGGED(type, change, is_done, kind, inode, offset, first, first_size, second) \
    do { \
        pthread_mutex_lock(&log_lock); \
        type result = (change); \
        int number = errno; \
        if (is_done) log_record(kind, inode, offset, first, first_size, second); \
        pthread_mutex_unlock(&log_lock); \
        errno = number; \
        return result; \
    } while (0)

// MARK: Files

#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list list; \
        va_start(list, flags); \
        mode = va_arg(list, mode_t); \
        va_end(list); \
    }

#define OPENED(opening, path, flags) \
    if (!is_logged(path) || !((flags) & (O_CREAT | O_TRUNC))) return opening; \
    LOGGED( \
        int, opening, result >= 0, (flags) & O_TRUNC ? LOG_TRUNCATE : LOG_CREATE, inode_of(result), 0, path, strlen(path), \
        NULL)

int open(const char *path, int flags, ...) {
    REAL(open)
    MODE(flags)
    FAIL_IF(open, -1);
    OPENED(real(path, flags, mode), path, flags);
}

int open64(const char *path, int flags, ...) {
    REAL(open64)
    MODE(flags)
    FAIL_IF(open, -1);
    OPENED(real(path, flags, mode), path, flags);
}

int openat(int folder, const char *path, int flags, ...) {
    REAL(openat)
    MODE(flags)
    FAIL_IF(open, -1);
    OPENED(real(folder, path, flags, mode), path, flags);
}

int mkstemp(char *path) {
    REAL(mkstemp)
    FAIL_IF(open, -1);
    if (!is_logged(path)) return real(path);
    LOGGED(int, real(path), result >= 0, LOG_CREATE, inode_of(result), 0, path, strlen(path), NULL);
}

FILE *fopen(const char *path, const char *mode) {
    REAL(fopen)
    FAIL_IF(open, NULL);
    return real(path, mode);
}

DIR *opendir(const char *path) {
    REAL(opendir)
    FAIL_IF(open, NULL);
    return real(path);
}

struct dirent *readdir(DIR *folder) {
    REAL(readdir)
    FAIL_IF(list, NULL);
    return real(folder);
}

static size_t shortened(int outcome, size_t size) { return outcome == SHORT && size > 1 ? size / 2 : size; }

#define FAIL_FILE(call, size) \
    int outcome = is_armed && is_regular(descriptor) ? DECIDE(call) : PASS; \
    if (outcome > 0) { errno = outcome; return -1; } \
    size = shortened(outcome, size);

ssize_t read(int descriptor, void *bytes, size_t size) {
    REAL(read)
    FAIL_FILE(read, size)
    return real(descriptor, bytes, size);
}

ssize_t pread(int descriptor, void *bytes, size_t size, off_t offset) {
    REAL(pread)
    FAIL_FILE(read, size)
    return real(descriptor, bytes, size, offset);
}

ssize_t pread64(int descriptor, void *bytes, size_t size, off64_t offset) {
    return pread(descriptor, bytes, size, offset);
}

#define WRITTEN(writing, start, bytes) \
    if (!is_logging || !is_regular(descriptor)) return writing; \
    LOGGED(ssize_t, writing, result > 0, LOG_WRITE, inode_of(descriptor), start, bytes, (size_t)result, NULL)

ssize_t write(int descriptor, const void *bytes, size_t size) {
    REAL(write)
    FAIL_FILE(write, size)
    WRITTEN(real(descriptor, bytes, size), lseek(descriptor, 0, SEEK_CUR) - result, bytes);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset) {
    REAL(pwrite)
    FAIL_FILE(write, size)
    WRITTEN(real(descriptor, bytes, size, offset), offset, bytes);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off64_t offset) {
    return pwrite(descriptor, bytes, size, offset);
}

static bool is_folder(int descriptor) {
    struct stat information;
    REAL(fstat)
    return real(descriptor, &information) == 0 && S_ISDIR(information.st_mode);
}

int fsync(int descriptor) {
    REAL(fsync)
    FAIL_IF(fsync, -1);
    if (!is_logging) return real(descriptor);
    int kind = is_folder(descriptor) ? LOG_SYNC_FOLDER : LOG_SYNC;
    LOGGED(int, real(descriptor), result == 0, kind, inode_of(descriptor), 0, "", 0, NULL);
}

int fdatasync(int descriptor) { return fsync(descriptor); }

int rename(const char *from, const char *to) {
    REAL(rename)
    FAIL_IF(rename, -1);
    if (!is_logged(to)) return real(from, to);
    LOGGED(int, real(from, to), result == 0, LOG_RENAME, 0, 0, from, strlen(from), to);
}

int renameat(int folder, const char *from, int other, const char *to) {
    REAL(renameat)
    FAIL_IF(rename, -1);
    if (!is_logged(to)) return real(folder, from, other, to);
    LOGGED(int, real(folder, from, other, to), result == 0, LOG_RENAME, 0, 0, from, strlen(from), to);
}

int unlink(const char *path) {
    REAL(unlink)
    FAIL_IF(unlink, -1);
    if (!is_logged(path)) return real(path);
    LOGGED(int, real(path), result == 0, LOG_UNLINK, 0, 0, path, strlen(path), NULL);
}

int mkdir(const char *path, mode_t mode) {
    REAL(mkdir)
    FAIL_IF(mkdir, -1);
    if (!is_logged(path)) return real(path, mode);
    LOGGED(int, real(path, mode), result == 0, LOG_MKDIR, 0, 0, path, strlen(path), NULL);
}

int stat(const char *path, struct stat *information) {
    REAL(stat)
    FAIL_IF(stat, -1);
    return real(path, information);
}

int lstat(const char *path, struct stat *information) {
    REAL(lstat)
    FAIL_IF(stat, -1);
    return real(path, information);
}

int fstat(int descriptor, struct stat *information) {
    REAL(fstat)
    FAIL_IF(stat, -1);
    return real(descriptor, information);
}

int flock(int descriptor, int operation) {
    REAL(flock)
    FAIL_IF(flock, -1);
    return real(descriptor, operation);
}

int ftruncate(int descriptor, off_t size) {
    REAL(ftruncate)
    FAIL_IF(truncate, -1);
    if (!is_logging) return real(descriptor, size);
    LOGGED(int, real(descriptor, size), result == 0, LOG_TRUNCATE, inode_of(descriptor), size, "", 0, NULL);
}

int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

void *mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
    REAL(mmap)
    FAIL_IF(mmap, MAP_FAILED);
    return real(address, size, protection, flags, descriptor, offset);
}

// MARK: Sockets and threads

int socket(int family, int type, int protocol) {
    REAL(socket)
    FAIL_IF(socket, -1);
    return real(family, type, protocol);
}

int socketpair(int family, int type, int protocol, int pair[2]) {
    REAL(socketpair)
    FAIL_IF(socket, -1);
    return real(family, type, protocol, pair);
}

int connect(int descriptor, const struct sockaddr *address, socklen_t size) {
    REAL(connect)
    FAIL_IF(connect, -1);
    return real(descriptor, address, size);
}

#define FAIL_SOCKET(call, size) \
    int outcome = DECIDE(call); \
    if (outcome > 0) { errno = outcome; return -1; } \
    size = shortened(outcome, size);

ssize_t send(int descriptor, const void *bytes, size_t size, int flags) {
    REAL(send)
    FAIL_SOCKET(send, size)
    return real(descriptor, bytes, size, flags);
}

ssize_t recv(int descriptor, void *bytes, size_t size, int flags) {
    REAL(recv)
    FAIL_SOCKET(receive, size)
    return real(descriptor, bytes, size, flags);
}

int epoll_create1(int flags) {
    REAL(epoll_create1)
    FAIL_IF(epoll_create, -1);
    return real(flags);
}

int epoll_ctl(int epoll, int operation, int descriptor, struct epoll_event *event) {
    REAL(epoll_ctl)
    FAIL_IF(epoll_ctl, -1);
    return real(epoll, operation, descriptor, event);
}

int eventfd(unsigned int value, int flags);
int eventfd(unsigned int value, int flags) {
    REAL(eventfd)
    FAIL_IF(eventfd, -1);
    return real(value, flags);
}

int fcntl(int descriptor, int command, ...) {
    REAL(fcntl)
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) FAIL_IF(dup, -1);
    return real(descriptor, command, argument);
}

int fcntl64(int descriptor, int command, ...) {
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    return fcntl(descriptor, command, argument);
}

int dup3(int descriptor, int other, int flags) {
    REAL(dup3)
    FAIL_IF(dup, -1);
    return real(descriptor, other, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *context) {
    REAL(pthread_create)
    int outcome = DECIDE(thread);
    if (outcome > 0) return outcome;
    return real(thread, attributes, start, context);
}

int getentropy(void *bytes, size_t size) {
    REAL(getentropy)
    FAIL_IF(random, -1);
    return real(bytes, size);
}
