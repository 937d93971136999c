# services/policy: what is answered or withheld by rule: views, response policy zones, response-ip, sets of the packet filter.
libresolver_la_SOURCES += \
	services/policy/ipset.c services/policy/ipset.h \
	services/policy/policy.c services/policy/policy.h \
	services/policy/answer_policy.c \
	services/policy/rpz_apply.h \
	services/policy/response_ip.c services/policy/response_ip.h \
	services/policy/rpz_match.h \
	services/policy/views.c services/policy/views.h

UNIT_TESTS += \
	services/policy/tests/policy \
	services/policy/tests/answer_policy services/policy/tests/response_ip \
	services/policy/tests/views

if AUTH_ZONES
libresolver_la_SOURCES += services/policy/rpz_apply.c services/policy/rpz_match.c
UNIT_TESTS += services/policy/tests/rpz services/policy/tests/rpz_edges
else
libresolver_la_SOURCES += services/policy/rpz_none.c
endif

EXTRA_DIST += services/policy/tests/rpz_world.h
