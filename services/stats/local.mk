# services/stats: counters, and how Prometheus is told of them.
libresolver_la_SOURCES += \
	services/stats/metrics.c services/stats/metrics.h \
	services/stats/stats.c services/stats/stats.def services/stats/stats.h

UNIT_TESTS += \
	services/stats/tests/metrics \
	services/stats/tests/stats
