# services/xfer: zone transfers: when, from whom, and who may send NOTIFY.
libresolver_la_SOURCES += \
	services/xfer/notify_senders.c services/xfer/notify_senders.h \
	services/xfer/private.h \
	services/xfer/round.c \
	services/xfer/schedule.c services/xfer/schedule.h

EXTRA_DIST += services/xfer/tests/fixture.h

UNIT_TESTS += \
	services/xfer/tests/schedule
