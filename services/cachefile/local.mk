# services/cachefile: the caches in a file, over a restart.
libresolver_la_SOURCES += \
	services/cachefile/block.c services/cachefile/block.h \
	services/cachefile/cachefile.h \
	services/cachefile/disk.c \
	services/cachefile/entry.h \
	services/cachefile/read.c \
	services/cachefile/write.c \
	services/cachefile/zones.c services/cachefile/zones.h

EXTRA_DIST += services/cachefile/tests/fixture.h

UNIT_TESTS += \
	services/cachefile/tests/block \
	services/cachefile/tests/cachefile \
	services/cachefile/tests/damage \
	services/cachefile/tests/entries
