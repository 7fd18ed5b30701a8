// Internal functions that Libcurl.c defines for Poller.c.
#ifndef SWITCHBOARD_CURL_POLLER_H
#define SWITCHBOARD_CURL_POLLER_H
int swcurl_multi_socket_action(void *multi, int socket, int events);
int swcurl_multi_set_pointer(void *multi, int option, void *value);
#endif
