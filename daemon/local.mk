# daemon: see doc/STYLE.md 1. One line per room, in alphabetical order.
libresolver_la_SOURCES +=

if HAVE_CMOCKA
DAEMON_TESTS =

check_PROGRAMS += $(DAEMON_TESTS)
TESTS += $(DAEMON_TESTS)
endif
