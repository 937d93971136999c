# services/dnstap: messages for a dnstap collector.
libresolver_la_SOURCES += \
	services/dnstap/dnstap.c services/dnstap/dnstap.h \
	services/dnstap/message.c services/dnstap/message.h \
	services/dnstap/tap.c services/dnstap/tap.h \
	services/dnstap/wire.c services/dnstap/wire.h

EXTRA_DIST += services/dnstap/tests/protobuf.h

UNIT_TESTS += \
	services/dnstap/tests/tap
