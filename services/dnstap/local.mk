# services/dnstap: messages for a dnstap collector.
libresolver_la_SOURCES += \
	services/dnstap/dnstap.h \
	services/dnstap/message.h \
	services/dnstap/tap.h \
	services/dnstap/wire.h

EXTRA_DIST += services/dnstap/tests/protobuf.h

if DNSTAP
libresolver_la_SOURCES += \
	services/dnstap/dnstap.c \
	services/dnstap/message.c \
	services/dnstap/tap.c \
	services/dnstap/wire.c
UNIT_TESTS += \
	services/dnstap/tests/tap
else
libresolver_la_SOURCES += services/dnstap/none.c
endif
