#include "SocketLoop.h"

#ifdef __linux__
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PAYLOAD = 1024, ANSWER = PAYLOAD + 4, FRAME = PAYLOAD + 8 };

struct socket_loop {
    int socket, poller;
    _Bool has_thread, has_ended;
    pthread_t thread;
    sem_t answered;
    char frame[FRAME];
};

/// Waits for an answer to a frame, and reads it.
static _Bool read_answer(struct socket_loop *loop) {
    char bytes[65536];
    for (long count = 0; count < ANSWER;) {
        struct epoll_event event;
        if (epoll_wait(loop->poller, &event, 1, -1) < 1) continue;
        long read = recv(loop->socket, bytes, sizeof bytes, MSG_DONTWAIT);
        if (read == 0 || (read < 0 && errno != EAGAIN)) return 0;
        if (read > 0) count += read;
    }
    return 1;
}

static void *run(void *argument) {
    struct socket_loop *loop = argument;
    while (read_answer(loop)) sem_post(&loop->answered);
    loop->has_ended = 1;
    sem_post(&loop->answered);
    return 0;
}

/// Sends the handshake, and reads its answer to the empty line.
static _Bool shake_hands(int socket) {
    const char *request = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    if (send(socket, request, strlen(request), MSG_NOSIGNAL) != (long)strlen(request)) return 0;
    char head[1024];
    for (size_t count = 0; count < sizeof head; count++) {
        if (recv(socket, head + count, 1, 0) != 1) return 0;
        if (count > 2 && memcmp(head + count - 3, "\r\n\r\n", 4) == 0) return 1;
    }
    return 0;
}

struct socket_loop *socket_loop_open(unsigned short port, _Bool has_thread) {
    struct socket_loop *loop = calloc(1, sizeof *loop);
    loop->socket = socket(AF_INET, SOCK_STREAM, 0);
    loop->poller = epoll_create1(0);
    loop->has_thread = has_thread;
    sem_init(&loop->answered, 0, 0);
    // A binary frame with a mask of zeros and a length of 16 bits (RFC 6455 §5.2).
    memcpy(loop->frame, (unsigned char[]){0x82, 0x80 | 126, PAYLOAD >> 8, PAYLOAD & 255}, 4);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    int on = 1;
    setsockopt(loop->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(loop->socket, (struct sockaddr *)&address, sizeof address) == 0 && shake_hands(loop->socket)
        && epoll_ctl(loop->poller, EPOLL_CTL_ADD, loop->socket, &event) == 0
        && (!has_thread || pthread_create(&loop->thread, 0, run, loop) == 0))
        return loop;
    loop->has_thread = 0;
    socket_loop_close(loop);
    return 0;
}

_Bool socket_loop_echo(struct socket_loop *loop) {
    if (send(loop->socket, loop->frame, FRAME, MSG_NOSIGNAL) != FRAME) return 0;
    if (!loop->has_thread) return read_answer(loop);
    while (sem_wait(&loop->answered)) {}
    return !loop->has_ended;
}

void socket_loop_close(struct socket_loop *loop) {
    shutdown(loop->socket, SHUT_RDWR);
    if (loop->has_thread) pthread_join(loop->thread, 0);
    close(loop->socket);
    close(loop->poller);
    free(loop);
}
#else
struct socket_loop *socket_loop_open(unsigned short port, _Bool has_thread) { return 0; }
_Bool socket_loop_echo(struct socket_loop *loop) { return 0; }
void socket_loop_close(struct socket_loop *loop) {}
#endif
