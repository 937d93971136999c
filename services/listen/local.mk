# services/listen: clients' transports: UDP, TCP, TLS, HTTPS.
libresolver_la_SOURCES += \
	services/listen/connection.c services/listen/connection.h \
	services/listen/connection_table.c services/listen/connection_table.h \
	services/listen/frames.c \
	services/listen/listeners.c \
	services/listen/socket.c services/listen/socket.h \
	services/listen/tcp.c services/listen/tcp.h \
	services/listen/udp.c services/listen/udp.h

if DOH
libresolver_la_SOURCES += \
	services/listen/doh.c services/listen/doh.h \
	services/listen/http.c
UNIT_TESTS += \
	services/listen/tests/doh \
	services/listen/tests/http
else
libresolver_la_SOURCES += services/listen/http_none.c
endif

EXTRA_DIST += services/listen/tests/run.h

UNIT_TESTS += \
	services/listen/tests/connection_table \
	services/listen/tests/proxied \
	services/listen/tests/socket \
	services/listen/tests/socket_bsd \
	services/listen/tests/tcp \
	services/listen/tests/udp \
	services/listen/tests/udp_bsd
