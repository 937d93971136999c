# util: no DNS policy; rooms, those below first.
include util/base/local.mk
include util/dns/local.mk
include util/names/local.mk
include util/net/local.mk
include util/conf/local.mk

EXTRA_DIST += util/tests/ca.h util/tests/store.h util/tests/turn.h util/tests/wire.h
