# services: see doc/STYLE.md 1. One line per room, in alphabetical order.
libresolver_la_SOURCES +=

if HAVE_CMOCKA
SERVICES_TESTS =

check_PROGRAMS += $(SERVICES_TESTS)
TESTS += $(SERVICES_TESTS)
endif
