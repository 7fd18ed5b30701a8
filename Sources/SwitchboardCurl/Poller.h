// Between SwitchboardCurl.c and Poller.c.
#ifndef CCURL_POLLER_H
#define CCURL_POLLER_H
int ccurl_multi_socket_action(void *multi, int socket, int events);
int ccurl_multi_set_pointer(void *multi, int option, void *value);
#endif
