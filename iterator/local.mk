# iterator: see doc/STYLE.md 1. One line per room, in alphabetical order.
libresolver_la_SOURCES +=

if HAVE_CMOCKA
ITERATOR_TESTS =

check_PROGRAMS += $(ITERATOR_TESTS)
TESTS += $(ITERATOR_TESTS)
endif
