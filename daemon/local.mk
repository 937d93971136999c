# daemon: see doc/STYLE.md 1. One line per room, in alphabetical order.
libresolver_la_SOURCES +=

sbin_PROGRAMS += resolver-checkconf
resolver_checkconf_SOURCES = daemon/checkconf.c
resolver_checkconf_LDADD = libresolver.la
TESTS += daemon/tests/checkconf.sh
EXTRA_DIST += daemon/tests/checkconf.sh

if HAVE_CMOCKA
DAEMON_TESTS =

check_PROGRAMS += $(DAEMON_TESTS)
TESTS += $(DAEMON_TESTS)
endif
