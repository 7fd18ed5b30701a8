// The modules of the toolchain import Glibc. Here it is another name of Darwin.
#include "Darwin.h"
