# services/authzone: zones held in full: their records, answers from them, their digest, transaction signatures, and policy zones' rules.
libresolver_la_SOURCES += \
	services/authzone/answer.c services/authzone/answer.h \
	services/authzone/changes.c services/authzone/changes.h \
	services/authzone/data.c services/authzone/data.h \
	services/authzone/job.c services/authzone/job.h \
	services/authzone/primary.c services/authzone/primary.h \
	services/authzone/rpz.c services/authzone/rpz.h \
	services/authzone/stream.c services/authzone/stream.h \
	services/authzone/tsig.c services/authzone/tsig.h \
	services/authzone/zonemd.c services/authzone/zonemd.h \
	services/authzone/zones.c services/authzone/zones.h

UNIT_TESTS += \
	services/authzone/tests/changes \
	services/authzone/tests/rpz \
	services/authzone/tests/stream \
	services/authzone/tests/tsig \
	services/authzone/tests/zonemd \
	services/authzone/tests/zones
