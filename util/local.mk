# util: no DNS policy. One line per room, in alphabetical order.
libresolver_la_SOURCES += \
	util/addr.c util/addr.h \
	util/arena.c util/arena.h \
	util/base.h \
	util/bytes.h \
	util/fault.h \
	util/hash.c util/hash.h \
	util/list.h \
	util/log.c util/log.h \
	util/loop.c util/loop.h \
	util/mem.c util/mem.h \
	util/random.c util/random.h \
	util/rcu.c util/rcu.h \
	util/timebase.c util/timebase.h

if HAVE_CMOCKA
UTIL_TESTS =
check_PROGRAMS += $(UTIL_TESTS)
TESTS += $(UTIL_TESTS)
endif
