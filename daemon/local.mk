# daemon: the program: opens everything, serves, stops.
libresolver_la_SOURCES += \
	daemon/serve.c daemon/serve.h

sbin_PROGRAMS += resolverd
resolverd_SOURCES = daemon/main.c
resolverd_LDADD = libresolver.la $(SECCOMP_LIBS) $(JEMALLOC_LIBS)

include daemon/worker/local.mk
include daemon/process/local.mk
include daemon/control/local.mk
include daemon/pages/local.mk
include daemon/system/local.mk
include daemon/tools/local.mk
include daemon/replay/local.mk
