# iterator: how an answer is found: servers chosen, asked, and what they say read; no opinion on signatures.
libresolver_la_SOURCES += \
	iterator/caps.c iterator/caps.h \
	iterator/chain.c iterator/chain.h \
	iterator/choose.c iterator/choose.h \
	iterator/classify.c iterator/classify.h \
	iterator/consult.c iterator/consult.h \
	iterator/delegation.c iterator/delegation.h \
	iterator/digest.c iterator/digest.h \
	iterator/hints.c iterator/hints.h \
	iterator/iter.c iterator/iter.h \
	iterator/iterator.c iterator/iterator.h \
	iterator/qmin.c iterator/qmin.h \
	iterator/race.c iterator/race.h \
	iterator/recall.c iterator/recall.h \
	iterator/resort.c iterator/resort.h \
	iterator/route.c iterator/route.h \
	iterator/route_zone.c iterator/route_zone.h \
	iterator/scrub.c iterator/scrub.h \
	iterator/scrub_set.c iterator/scrub_set.h \
	iterator/select.c iterator/select.h \
	iterator/show.c iterator/show.h \
	iterator/targets.c iterator/targets.h

UNIT_TESTS += \
	iterator/tests/caps \
	iterator/tests/chain \
	iterator/tests/classify \
	iterator/tests/delegation \
	iterator/tests/delegation_cache \
	iterator/tests/digest \
	iterator/tests/digest_answers \
	iterator/tests/hints \
	iterator/tests/qmin \
	iterator/tests/scrub \
	iterator/tests/scrub_alias \
	iterator/tests/scrub_routes \
	iterator/tests/scrub_set \
	iterator/tests/select \
	iterator/tests/select_strategy \
	iterator/tests/states


EXTRA_DIST += iterator/tests/digest_house.h iterator/tests/house.h iterator/tests/scrub_row.h iterator/tests/select_house.h
