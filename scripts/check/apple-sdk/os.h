// https://developer.apple.com/documentation/os/os_unfair_lock_lock
#include <os/lock.h>
#include <os/base.h>
