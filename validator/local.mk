# validator: see doc/STYLE.md 1. One line per room, in alphabetical order.
libresolver_la_SOURCES += \
	validator/anchors.c validator/anchors.h validator/anchors_bind.c \
	validator/autotrust.c validator/autotrust.h validator/autotrust_file.c validator/autotrust_private.h \
	validator/crypto.c validator/crypto.h validator/algorithm.def \
	validator/date.c validator/date.h \
	validator/rules.c validator/rules.h \
	validator/verify.c validator/verify.h validator/verify_private.h \
	validator/keyset.c validator/vouch.c

if HAVE_CMOCKA
VALIDATOR_TESTS =

check_PROGRAMS += $(VALIDATOR_TESTS)
TESTS += $(VALIDATOR_TESTS)
endif
