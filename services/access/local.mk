# services/access: who may ask, and how often: access control, cookies, limits of rates and of waiting.
libresolver_la_SOURCES += \
	services/access/acl.c services/access/acl.h \
	services/access/cookies.c services/access/cookies.h \
	services/access/ratelimit.c services/access/ratelimit.h \
	services/access/waitlimit.c services/access/waitlimit.h

UNIT_TESTS += \
	services/access/tests/acl \
	services/access/tests/cookies \
	services/access/tests/ratelimit \
	services/access/tests/waitlimit
