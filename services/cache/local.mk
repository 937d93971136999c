# services/cache: what is stored: messages, RRsets, servers, denials, client subnets; knows no query.
libresolver_la_SOURCES += \
	services/cache/aggressive.c services/cache/aggressive.h \
	services/cache/families.c services/cache/families.h \
	services/cache/forget.c services/cache/forget.h \
	services/cache/infra.c services/cache/infra.h \
	services/cache/mention.c services/cache/mention.h \
	services/cache/msg.c services/cache/msg.h \
	services/cache/nsec_ranges.c services/cache/nsec_ranges.h \
	services/cache/presence.c services/cache/presence.h \
	services/cache/referral_ds.c services/cache/referral_ds.h \
	services/cache/rrset.c services/cache/rrset.h \
	services/cache/slab.c services/cache/slab.h \
	services/cache/subnet_index.h \
	services/cache/verified.c services/cache/verified.h \
	services/cache/verified_private.h

EXTRA_DIST += services/cache/tests/denials.h services/cache/tests/msg_made.h

UNIT_TESTS += \
	services/cache/tests/aggressive \
	services/cache/tests/aggressive_learn \
	services/cache/tests/families \
	services/cache/tests/forget \
	services/cache/tests/infra \
	services/cache/tests/msg \
	services/cache/tests/msg_images \
	services/cache/tests/nsec_ranges \
	services/cache/tests/presence \
	services/cache/tests/referral_ds \
	services/cache/tests/rrset \
	services/cache/tests/slab \
	services/cache/tests/verified

if SUBNET
libresolver_la_SOURCES += services/cache/subnet_index.c
UNIT_TESTS += services/cache/tests/subnet_index
else
libresolver_la_SOURCES += services/cache/subnet_index_none.c
endif
