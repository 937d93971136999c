# services/mesh: queries in flight: who is admitted, turns of the modules, children, waiters, expired answers, and what is cached of an answer.
libresolver_la_SOURCES += \
	services/mesh/admit.c \
	services/mesh/cache_rules.c services/mesh/cache_rules.h \
	services/mesh/children.c \
	services/mesh/error_report.c services/mesh/error_report.h \
	services/mesh/habits.c services/mesh/habits.h \
	services/mesh/mesh.c services/mesh/mesh.h \
	services/mesh/private.h \
	services/mesh/query.c \
	services/mesh/stale.c \
	services/mesh/subnet_group.h \
	services/mesh/waiter.c services/mesh/waiter.h \
	services/mesh/waiters.c

EXTRA_DIST += services/mesh/tests/fixture.h

UNIT_TESTS += \
	services/mesh/tests/admit \
	services/mesh/tests/cache_rules \
	services/mesh/tests/error_report \
	services/mesh/tests/habits \
	services/mesh/tests/limits \
	services/mesh/tests/mesh \
	services/mesh/tests/module_events \
	services/mesh/tests/store_set \
	services/mesh/tests/stuck \
	services/mesh/tests/time \
	services/mesh/tests/waiter

if SUBNET
libresolver_la_SOURCES += services/mesh/subnet_groups.c
UNIT_TESTS += services/mesh/tests/subnet_groups
else
libresolver_la_SOURCES += services/mesh/subnet_groups_none.c
endif
