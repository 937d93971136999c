# services/history: what was asked lately and most often, what decided it, and the log of queries.
libresolver_la_SOURCES += \
	services/history/decision.c services/history/decision.h \
	services/history/linering.c services/history/linering.h \
	services/history/querylog.c services/history/querylog.h \
	services/history/querypipe.c services/history/querypipe.h \
	services/history/recorder.c services/history/recorder.h \
	services/history/report.c services/history/report.h \
	services/history/ring.c services/history/ring.h \
	services/history/toplist.c services/history/toplist.h

UNIT_TESTS += \
	services/history/tests/linering \
	services/history/tests/querylog \
	services/history/tests/querypipe \
	services/history/tests/report \
	services/history/tests/ring \
	services/history/tests/toplist
