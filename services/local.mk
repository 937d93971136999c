# services: see doc/STYLE.md 1. One line per room, in alphabetical order.
libresolver_la_SOURCES += \
	services/cache/infra.c services/cache/infra.h \
	services/cache/msg.c services/cache/msg.h \
	services/cache/rrset.c services/cache/rrset.h \
	services/cache/slab.c services/cache/slab.h

if HAVE_CMOCKA
SERVICES_TESTS =

check_PROGRAMS += $(SERVICES_TESTS)
TESTS += $(SERVICES_TESTS)
endif
