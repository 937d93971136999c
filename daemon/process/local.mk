# daemon/process: the process as a whole: configurations published and replaced, caches kept, emptied and saved, threads watched and stopped.
libresolver_la_SOURCES += \
	daemon/process/cache_keeper.h \
	daemon/process/change.c daemon/process/change.h \
	daemon/process/changes.c daemon/process/changes.def daemon/process/changes.h \
	daemon/process/client_sockets.c daemon/process/client_sockets.h \
	daemon/process/daemon.c daemon/process/daemon.h \
	daemon/process/forget.c daemon/process/forget.h \
	daemon/process/journal.c daemon/process/journal.h \
	daemon/process/leases.h \
	daemon/process/log_conf.c daemon/process/log_conf.h \
	daemon/process/purge.c daemon/process/purge.h \
	daemon/process/reread.c daemon/process/reread.h \
	daemon/process/shape.c daemon/process/shape.def daemon/process/shape.h \
	daemon/process/socket_activation.c daemon/process/socket_activation.h \
	daemon/process/stopper.c daemon/process/stopper.h \
	daemon/process/thread_job.c daemon/process/thread_job.h \
	daemon/process/watchdog.c daemon/process/watchdog.h

if CACHEFILE
libresolver_la_SOURCES += daemon/process/cache_keeper.c
else
libresolver_la_SOURCES += daemon/process/cache_keeper_none.c
endif
if LEASES
libresolver_la_SOURCES += daemon/process/leases.c
else
libresolver_la_SOURCES += daemon/process/leases_none.c
endif

UNIT_TESTS += \
	daemon/process/tests/changes \
	daemon/process/tests/journal \
	daemon/process/tests/stopper

if AUTH_ZONES
UNIT_TESTS += daemon/process/tests/shape
endif

EXTRA_DIST += daemon/process/tests/fixture.h
