# services/upstream: one query to one server: UDP, TCP, TLS, HTTPS, and the pool of connections.
libresolver_la_SOURCES += \
	services/upstream/connection.c \
	services/upstream/peer.c services/upstream/peer.h \
	services/upstream/pool.c services/upstream/pool.h \
	services/upstream/question.c services/upstream/question.h \
	services/upstream/streams.c \
	services/upstream/tcp.c \
	services/upstream/udp.c \
	services/upstream/unwanted.c services/upstream/unwanted.h \
	services/upstream/upstream.c services/upstream/upstream.h \
	services/upstream/wire.c services/upstream/wire.h

if DOH
libresolver_la_SOURCES += services/upstream/https.c
else
libresolver_la_SOURCES += services/upstream/https_none.c
endif

EXTRA_DIST += services/upstream/tests/fixture.h services/upstream/tests/socket_pair.h

UNIT_TESTS += \
	services/upstream/tests/peer \
	services/upstream/tests/question \
	services/upstream/tests/tcp \
	services/upstream/tests/tls \
	services/upstream/tests/udp \
	services/upstream/tests/unwanted \
	services/upstream/tests/upstream \
	services/upstream/tests/wait \
	services/upstream/tests/wire
