# services/net: addresses, sockets and connections, of clients and servers alike: where to listen, from where to ask, how many, what a packet is.
libresolver_la_SOURCES += \
	services/net/addresses.c services/net/addresses.h \
	services/net/client.h \
	services/net/connection_limits.c services/net/connection_limits.h \
	services/net/dial.c services/net/dial.h \
	services/net/edns_conn.c services/net/edns_conn.h \
	services/net/interfaces.c services/net/interfaces.h \
	services/net/registered_ports.def \
	services/net/shares.c services/net/shares.h \
	services/net/source.c services/net/source.h \
	services/net/transport.def services/net/transport.h

UNIT_TESTS += \
	services/net/tests/connection_limits \
	services/net/tests/dial_bsd \
	services/net/tests/edns_conn \
	services/net/tests/interfaces \
	services/net/tests/shares
