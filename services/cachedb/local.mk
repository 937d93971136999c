# services/cachedb: the module cachedb: answers in a store outside this process.
libresolver_la_SOURCES += \
	services/cachedb/cachedb.h \
	services/cachedb/entry.h \
	services/cachedb/resp.h \
	services/cachedb/store.h

EXTRA_DIST += services/cachedb/tests/fixture.h

if CACHEDB
libresolver_la_SOURCES += \
	services/cachedb/cachedb.c \
	services/cachedb/entry.c \
	services/cachedb/frame.c \
	services/cachedb/redis.c \
	services/cachedb/resp.c
UNIT_TESTS += \
	services/cachedb/tests/cachedb \
	services/cachedb/tests/connections \
	services/cachedb/tests/module
else
libresolver_la_SOURCES += services/cachedb/none.c
endif
