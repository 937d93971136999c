/* The claims of udp.c, of the file as BSD compiles it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "testdata/bsd/sockets.h"

#include "services/listen/socket.c"
#include "services/listen/udp.c"
#ifdef __linux__
#undef setsockopt
#undef recvmsg
#undef sendmsg
#endif
#include "services/listen/tests/udp.c"
