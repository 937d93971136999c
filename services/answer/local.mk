# services/answer: a stored or fresh answer as bytes for a client; CNAMEs that come before it; addresses of NAT64.
libresolver_la_SOURCES += \
	services/answer/alias_prefix.c services/answer/alias_prefix.h \
	services/answer/answer.c services/answer/answer.h \
	services/answer/nat64.c services/answer/nat64.h

UNIT_TESTS += \
	services/answer/tests/answer
