#ifndef SOCKET_LOOP_H
#define SOCKET_LOOP_H

struct socket_loop;

/// Opens a WebSocket to a port of this machine that sends frames without parsing the answers: the lower bound for any client. With
/// `has_thread`, a second thread polls and reads the socket, and wakes the caller, as for tasks on Swift's own threads. Linux only.
/// Returns null if it cannot be opened.
struct socket_loop *socket_loop_open(unsigned short port, _Bool has_thread);

/// Sends 1 KB in a frame, and blocks until as much came back. Returns false if the connection ended.
_Bool socket_loop_echo(struct socket_loop *loop);

void socket_loop_close(struct socket_loop *loop);

#endif
