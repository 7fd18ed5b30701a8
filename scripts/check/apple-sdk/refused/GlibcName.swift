import os

let epoll = epoll_create1(0)  // expected-error {{cannot find 'epoll_create1' in scope}}
