# services/dns64: the module dns64: AAAA records made of A records.
libresolver_la_SOURCES += \
	services/dns64/dns64.c services/dns64/dns64.h

UNIT_TESTS += \
	services/dns64/tests/dns64
