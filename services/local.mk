# services: see doc/STYLE.md 1. One line per room, in alphabetical order.
libresolver_la_SOURCES += \
	services/cache/infra.c services/cache/infra.h \
	services/cache/msg.c services/cache/msg.h \
	services/cache/rrset.c services/cache/rrset.h \
	services/cache/slab.c services/cache/slab.h \
	services/budget.h \
	services/env.h \
	services/mesh.c services/mesh.h services/mesh_private.h \
	services/mesh_waiters.c \
	services/module.h \
	services/query.c services/query.h \
	services/registered_ports.def \
	services/upstream.c services/upstream.h \
	services/upstream_source.c services/upstream_source.h \
	services/upstream_tcp.c \
	services/upstream_udp.c

if HAVE_CMOCKA
SERVICES_TESTS =

check_PROGRAMS += $(SERVICES_TESTS)
TESTS += $(SERVICES_TESTS)
endif
