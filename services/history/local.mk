# services/history: what was asked lately and most often, what decided it, and the log of queries.
libresolver_la_SOURCES += \
	services/history/decision.c services/history/decision.h \
	services/history/linering.h \
	services/history/querylog.c services/history/querylog.h \
	services/history/querypipe.h \
	services/history/recorder.h \
	services/history/report.h \
	services/history/ring.h \
	services/history/toplist.h

UNIT_TESTS += \
	services/history/tests/querylog

if HISTORY
libresolver_la_SOURCES += \
	services/history/linering.c \
	services/history/querypipe.c \
	services/history/recorder.c \
	services/history/report.c \
	services/history/ring.c \
	services/history/toplist.c
UNIT_TESTS += \
	services/history/tests/linering \
	services/history/tests/querypipe \
	services/history/tests/report \
	services/history/tests/ring \
	services/history/tests/toplist
else
libresolver_la_SOURCES += services/history/none.c
endif
