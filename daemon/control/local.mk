# daemon/control: the control channel, its commands, and the statistics of all workers.
libresolver_la_SOURCES += \
	daemon/control/acceptor.c daemon/control/acceptor.h \
	daemon/control/block.c \
	daemon/control/cache.c \
	daemon/control/call.c daemon/control/call.h \
	daemon/control/call_json.c daemon/control/call_json.h \
	daemon/control/call_text.c daemon/control/call_text.h \
	daemon/control/changes.c daemon/control/changes.h \
	daemon/control/commands.c \
	daemon/control/control.c daemon/control/control.def daemon/control/control.h \
	daemon/control/cookies.c \
	daemon/control/dump.c \
	daemon/control/local.c \
	daemon/control/options.c \
	daemon/control/process.c \
	daemon/control/rates.c \
	daemon/control/reload.c \
	daemon/control/request.c daemon/control/request.h \
	daemon/control/requests.c \
	daemon/control/sockets.c daemon/control/sockets.h \
	daemon/control/stats.c daemon/control/stats.h \
	daemon/control/top.h \
	daemon/control/trust.c daemon/control/trust.h \
	daemon/control/upstreams.c daemon/control/upstreams.h \
	daemon/control/why.c \
	daemon/control/zones.c

if AUTH_ZONES
libresolver_la_SOURCES += daemon/control/auth.c
else
libresolver_la_SOURCES += daemon/control/auth_none.c
endif
if CACHEFILE
libresolver_la_SOURCES += daemon/control/load.c
else
libresolver_la_SOURCES += daemon/control/load_none.c
endif
if HISTORY
libresolver_la_SOURCES += daemon/control/top.c
else
libresolver_la_SOURCES += daemon/control/top_none.c
endif
if LEASES
libresolver_la_SOURCES += daemon/control/leases.c
else
libresolver_la_SOURCES += daemon/control/leases_none.c
endif

EXTRA_DIST += daemon/control/tests/fixture.h

UNIT_TESTS += \
	daemon/control/tests/call_json \
	daemon/control/tests/control \
	daemon/control/tests/dump \
	daemon/control/tests/request \
	daemon/control/tests/sockets
