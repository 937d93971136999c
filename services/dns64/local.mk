# services/dns64: the module dns64: AAAA records made of A records.
libresolver_la_SOURCES += \
	services/dns64/dns64.h

if DNS64
libresolver_la_SOURCES += \
	services/dns64/dns64.c
UNIT_TESTS += \
	services/dns64/tests/dns64
else
libresolver_la_SOURCES += services/dns64/none.c
endif
