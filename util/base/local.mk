# util/base: memory, strings, threads, time, logging: what any program needs.
libresolver_la_SOURCES += \
	util/base/arena.c util/base/arena.h \
	util/base/ascii.c util/base/ascii.h \
	util/base/base.h \
	util/base/base64url.c util/base/base64url.h \
	util/base/bytes.h \
	util/base/fault.c util/base/fault.h \
	util/base/file.c util/base/file.h \
	util/base/hash.c util/base/hash.h \
	util/base/json.c util/base/json.h \
	util/base/list.h \
	util/base/log.c util/base/log.h \
	util/base/log_event.def util/base/log_event.h \
	util/base/log_json.c util/base/log_json.h \
	util/base/log_member.def \
	util/base/log_out.c util/base/log_out.h \
	util/base/log_repeats.c util/base/log_repeats.h \
	util/base/log_ring.c util/base/log_ring.h \
	util/base/loop.c util/base/loop.h \
	util/base/mem.c util/base/mem.h \
	util/base/msgring.c util/base/msgring.h \
	util/base/pattern.c util/base/pattern.h \
	util/base/pins.c util/base/pins.h \
	util/base/program.c util/base/program.h \
	util/base/random.c util/base/random.h \
	util/base/rcu.c util/base/rcu.h \
	util/base/textlex.h \
	util/base/thread.c util/base/thread.h \
	util/base/timebase.c util/base/timebase.h

UNIT_TESTS += \
	util/base/tests/arena \
	util/base/tests/base64url \
	util/base/tests/bytes \
	util/base/tests/file \
	util/base/tests/hash \
	util/base/tests/json \
	util/base/tests/list \
	util/base/tests/log \
	util/base/tests/log_json \
	util/base/tests/log_ring \
	util/base/tests/loop \
	util/base/tests/mem \
	util/base/tests/pattern \
	util/base/tests/pins \
	util/base/tests/random \
	util/base/tests/rcu \
	util/base/tests/thread \
	util/base/tests/timebase
