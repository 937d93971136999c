# services/query: one question being resolved: what it is, what it may cost, what modules may see, and the configuration it began with.
libresolver_la_SOURCES += \
	services/query/budget.c services/query/budget.h \
	services/query/env.h \
	services/query/module.h \
	services/query/query.h \
	services/query/snapshot.c services/query/snapshot.h \
	services/query/trace.c services/query/trace.h

UNIT_TESTS += \
	services/query/tests/budget
