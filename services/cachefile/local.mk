# services/cachefile: the caches in a file, over a restart.
libresolver_la_SOURCES += \
	services/cachefile/block.h \
	services/cachefile/cachefile.h \
	services/cachefile/entry.h \
	services/cachefile/zones.h

EXTRA_DIST += services/cachefile/tests/fixture.h

if CACHEFILE
libresolver_la_SOURCES += \
	services/cachefile/block.c \
	services/cachefile/disk.c \
	services/cachefile/read.c \
	services/cachefile/write.c \
	services/cachefile/zones.c
UNIT_TESTS += \
	services/cachefile/tests/block \
	services/cachefile/tests/cachefile \
	services/cachefile/tests/damage \
	services/cachefile/tests/entries
else
libresolver_la_SOURCES += services/cachefile/none.c
endif
