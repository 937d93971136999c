# daemon/system: what the operating system is asked for: privileges, sandbox, descriptors, service manager, changes of files.
libresolver_la_SOURCES += \
	daemon/system/capabilities.c daemon/system/capabilities.h \
	daemon/system/core_dumps.c daemon/system/core_dumps.h \
	daemon/system/fd_limits.c daemon/system/fd_limits.h \
	daemon/system/pidfile.c daemon/system/pidfile.h \
	daemon/system/privileges.c daemon/system/privileges.h \
	daemon/system/sandbox.c daemon/system/sandbox.def daemon/system/sandbox.h \
	daemon/system/sandbox_calls.c \
	daemon/system/sandbox_files.c \
	daemon/system/sandbox_private.h \
	daemon/system/sd_notify.c daemon/system/sd_notify.h \
	daemon/system/watch.c daemon/system/watch.h

UNIT_TESTS += \
	daemon/system/tests/fd_limits \
	daemon/system/tests/sandbox \
	daemon/system/tests/sandbox_files \
	daemon/system/tests/watch \
	daemon/system/tests/watch_kqueue

# What only BSD compiles, over a kernel that is played.
daemon_system_tests_watch_kqueue_CPPFLAGS = -I$(srcdir)/testdata/bsd $(AM_CPPFLAGS)
