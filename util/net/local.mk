# util/net: addresses, TLS, HTTP/2, PROXY, sets of the kernel.
libresolver_la_SOURCES += \
	util/net/addr.c util/net/addr.h \
	util/net/kernset.h \
	util/net/proxy2.c util/net/proxy2.h \
	util/net/stream.c util/net/stream.h \
	util/net/subnet.c util/net/subnet.h \
	util/net/tls.c util/net/tls.h \
	util/net/tls_context.c \
	util/net/tls_kept.c \
	util/net/tls_private.h \
	util/net/tls_sessions.c \
	util/net/tls_tickets.c \
	util/net/tls_wire.c

# Sets of the kernel's packet filter: pf's, or Linux's, or none.
if PF
libresolver_la_SOURCES += util/net/kernset_pf.c
else
libresolver_la_SOURCES += util/net/kernset.c
UNIT_TESTS += util/net/tests/kernset
endif

if DOH
libresolver_la_SOURCES += \
	util/net/http2_abuse.c util/net/http2_abuse.h \
	util/net/http2_client.c util/net/http2_client.h \
	util/net/http2_server.c util/net/http2_server.h
UNIT_TESTS += \
	util/net/tests/http2_abuse \
	util/net/tests/http2_client \
	util/net/tests/http2_server
endif

EXTRA_DIST += util/net/tests/tls_pair.h

UNIT_TESTS += \
	util/net/tests/addr \
	util/net/tests/kernset_pf \
	util/net/tests/proxy2 \
	util/net/tests/subnet \
	util/net/tests/tls \
	util/net/tests/tls_chroot \
	util/net/tests/tls_context_memory \
	util/net/tests/tls_ends \
	util/net/tests/tls_files \
	util/net/tests/tls_pieces

# What only BSD compiles, over a kernel that is played.
util_net_tests_kernset_pf_CPPFLAGS = -I$(srcdir)/testdata/bsd $(AM_CPPFLAGS)
