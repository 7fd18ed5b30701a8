#if defined(__linux__) && !defined(__ANDROID__)
// Sends and receives over sockets that were taken from libcurl.
#include "SwitchboardCurlC.h"

#include <errno.h>
#include <sys/socket.h>

ssize_t swcurl_socket_receive(int socket, void *bytes, size_t size) {
    ssize_t count;
    do count = recv(socket, bytes, size, MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : count;
}

ssize_t swcurl_socket_send(int socket, const void *bytes, size_t size) {
    ssize_t count;
    do count = send(socket, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (count < 0 && errno == EINTR);
    if (count >= 0) return count;
    int number = errno;
    if (number != EAGAIN) shutdown(socket, SHUT_RDWR);
    return -number;
}
#endif
