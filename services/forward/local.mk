# services/forward: forward and stub zones, root hints, and what is set for servers of certain zones or addresses.
libresolver_la_SOURCES += \
	services/forward/forward.c services/forward/forward.h \
	services/forward/hints_builtin.def \
	services/forward/server_text.c services/forward/server_text.h \
	services/forward/subnets.h \
	services/forward/zonelimits.c services/forward/zonelimits.h

UNIT_TESTS += \
	services/forward/tests/forward

if SUBNET
libresolver_la_SOURCES += services/forward/subnets.c
UNIT_TESTS += services/forward/tests/subnets
else
libresolver_la_SOURCES += services/forward/subnets_none.c
endif
