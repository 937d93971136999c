# services/authzone: zones held in full: their records, answers from them, their digest, transaction signatures, and policy zones' rules.
libresolver_la_SOURCES += \
	services/authzone/answer.h \
	services/authzone/changes.h \
	services/authzone/data.h \
	services/authzone/job.h \
	services/authzone/primary.h \
	services/authzone/rpz.h \
	services/authzone/stream.h \
	services/authzone/tsig.h \
	services/authzone/zonemd.h \
	services/authzone/zones.h

if AUTH_ZONES
libresolver_la_SOURCES += \
	services/authzone/answer.c \
	services/authzone/changes.c \
	services/authzone/data.c \
	services/authzone/job.c \
	services/authzone/primary.c \
	services/authzone/rpz.c \
	services/authzone/stream.c \
	services/authzone/tsig.c \
	services/authzone/zonemd.c \
	services/authzone/zones.c
UNIT_TESTS += \
	services/authzone/tests/changes \
	services/authzone/tests/rpz \
	services/authzone/tests/stream \
	services/authzone/tests/tsig \
	services/authzone/tests/zonemd \
	services/authzone/tests/zones
else
libresolver_la_SOURCES += services/authzone/none.c
endif
