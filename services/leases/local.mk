# services/leases: DHCP leases and hosts files, as local data.
libresolver_la_SOURCES += \
	services/leases/file.h \
	services/leases/hostnames.h \
	services/leases/private.h \
	services/leases/trouble.def

if LEASES
libresolver_la_SOURCES += \
	services/leases/file.c \
	services/leases/hostnames.c \
	services/leases/isc.c \
	services/leases/kea.c \
	services/leases/line.c
UNIT_TESTS += \
	services/leases/tests/file \
	services/leases/tests/hostnames
else
libresolver_la_SOURCES += services/leases/none.c
endif
