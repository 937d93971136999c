# iterator: how an answer is found: servers chosen, asked, and what they say read; no opinion on signatures.
libresolver_la_SOURCES += \
	iterator/caps.c iterator/caps.h \
	iterator/aliases.c iterator/aliases.h \
	iterator/choose.c iterator/choose.h \
	iterator/classify.c iterator/classify.h \
	iterator/confirm.c iterator/confirm.h \
	iterator/delegation.c iterator/delegation.h \
	iterator/response.c iterator/response.h \
	iterator/hints.c iterator/hints.h \
	iterator/iter.c iterator/iter.h \
	iterator/iterator.c iterator/iterator.h \
	iterator/qmin.c iterator/qmin.h \
	iterator/race.c iterator/race.h \
	iterator/from_cache.c iterator/from_cache.h \
	iterator/parent_fallback.c iterator/parent_fallback.h \
	iterator/route.c iterator/route.h \
	iterator/route_zone.c iterator/route_zone.h \
	iterator/scrub.c iterator/scrub.h \
	iterator/scrub_set.c iterator/scrub_set.h \
	iterator/select.c iterator/select.h \
	iterator/client_subnet.h \
	iterator/targets.c iterator/targets.h

UNIT_TESTS += \
	iterator/tests/caps \
	iterator/tests/aliases \
	iterator/tests/parent_fallback \
	iterator/tests/choose \
	iterator/tests/confirm \
	iterator/tests/classify \
	iterator/tests/delegation \
	iterator/tests/delegation_cache \
	iterator/tests/from_cache \
	iterator/tests/response \
	iterator/tests/response_answers \
	iterator/tests/response_edges \
	iterator/tests/hints \
	iterator/tests/qmin \
	iterator/tests/race \
	iterator/tests/scrub \
	iterator/tests/scrub_alias \
	iterator/tests/scrub_routes \
	iterator/tests/scrub_set \
	iterator/tests/select \
	iterator/tests/select_strategy \
	iterator/tests/states \
	iterator/tests/targets

EXTRA_DIST += iterator/tests/response_fixture.h iterator/tests/fixture.h iterator/tests/scrub_row.h iterator/tests/select_fixture.h

if SUBNET
libresolver_la_SOURCES += iterator/client_subnet.c
UNIT_TESTS += iterator/tests/client_subnet
else
libresolver_la_SOURCES += iterator/client_subnet_none.c
endif
