# services/xfer: zone transfers: when, from whom, and who may send NOTIFY.
libresolver_la_SOURCES += \
	services/xfer/notify_senders.h \
	services/xfer/private.h \
	services/xfer/schedule.h

EXTRA_DIST += services/xfer/tests/fixture.h

if AUTH_ZONES
libresolver_la_SOURCES += \
	services/xfer/notify_senders.c \
	services/xfer/round.c \
	services/xfer/schedule.c
UNIT_TESTS += \
	services/xfer/tests/schedule
else
libresolver_la_SOURCES += services/xfer/none.c
endif
