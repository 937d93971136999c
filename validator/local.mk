# validator: see doc/STYLE.md 1. One line per room, in alphabetical order.
libresolver_la_SOURCES +=

if HAVE_CMOCKA
VALIDATOR_TESTS =

check_PROGRAMS += $(VALIDATOR_TESTS)
TESTS += $(VALIDATOR_TESTS)
endif
