// Preloaded into a test program, this delays one in five jobs of Swift's global executor by up to 20 ms. Orders of tasks that an
// idle machine almost never shows become common, and a test that relies on one fails. DELAYS_SEED
// selects the sequence of delays; the threads decide which job gets which.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct Job Job;
typedef __attribute__((swiftcall)) void (*Enqueue)(Job *);
typedef __attribute__((swiftcall)) void (*Hook)(Job *, Enqueue);
typedef struct { uint64_t due; Job *job; } Delayed;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change;
static Delayed *heap;  // the earliest first
static size_t count, capacity;
static Enqueue enqueue;
static uint64_t seed;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t draw(void) {  // xorshift64
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static void push(Delayed delayed) {
    if (count == capacity) {
        capacity = capacity ? 2 * capacity : 1024;
        heap = realloc(heap, capacity * sizeof *heap);
        if (!heap) abort();
    }
    size_t i = count++;
    for (; i && heap[(i - 1) / 2].due > delayed.due; i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
    heap[i] = delayed;
}

static Delayed pop(void) {
    Delayed first = heap[0], last = heap[--count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && heap[child + 1].due < heap[child].due) child++;
        if (heap[child].due >= last.due) break;
        heap[i] = heap[child];
    }
    heap[i] = last;
    return first;
}

static void *run(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        if (!count) {
            pthread_cond_wait(&change, &lock);
        } else if (heap[0].due <= now()) {
            Delayed first = pop();
            Enqueue original = enqueue;
            pthread_mutex_unlock(&lock);
            original(first.job);
            pthread_mutex_lock(&lock);
        } else {
            uint64_t due = heap[0].due;
            struct timespec time = {.tv_sec = due / 1000000000, .tv_nsec = due % 1000000000};
            pthread_cond_timedwait(&change, &lock, &time);
        }
    }
    return NULL;
}

static __attribute__((swiftcall)) void hook(Job *job, Enqueue original) {
    pthread_mutex_lock(&lock);
    int isDelayed = draw() % 5 == 0;
    if (isDelayed) {
        enqueue = original;
        push((Delayed){now() + draw() % 20000000, job});
        pthread_cond_signal(&change);
    }
    pthread_mutex_unlock(&lock);
    if (!isDelayed) original(job);
}

__attribute__((constructor)) static void start(void) {
    Hook *variable = dlsym(RTLD_DEFAULT, "swift_task_enqueueGlobal_hook");
    if (!variable) return;  // a program without Swift's concurrency
    const char *text = getenv("DELAYS_SEED");
    seed = (text ? strtoull(text, NULL, 10) : 0) * 0x9E3779B97F4A7C15 + 1;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&change, &attributes);
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL)) abort();
    pthread_detach(thread);
    fprintf(stderr, "delays: DELAYS_SEED=%s\n", text ? text : "0");
    *variable = hook;
}
