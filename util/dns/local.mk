# util/dns: names, records and messages, in wire form and as text.
libresolver_la_SOURCES += \
	util/dns/denial.c util/dns/denial.h \
	util/dns/dname.c util/dns/dname.h \
	util/dns/edns.c util/dns/edns.h \
	util/dns/msg.c util/dns/msg.h \
	util/dns/msg_read.c \
	util/dns/msg_write.c \
	util/dns/msgname.c util/dns/msgname.h \
	util/dns/nsec3.c \
	util/dns/reason.c util/dns/reason.def util/dns/reason.h \
	util/dns/rr.c util/dns/rr.h \
	util/dns/rrset.c util/dns/rrset.h \
	util/dns/rrtype.def \
	util/dns/text.c util/dns/text.h \
	util/dns/text_field.c util/dns/text_field.h \
	util/dns/text_print.c \
	util/dns/text_series.c util/dns/text_series.h \
	util/dns/text_svcb.c util/dns/text_svcb.h \
	util/dns/text_zone.c \
	util/dns/type_bitmap.c util/dns/type_bitmap.h

EXTRA_DIST += \
	util/dns/tests/msg_text.h \
	util/dns/tests/zone.h \
	util/dns/tests/zones/nsec.zone \
	util/dns/tests/zones/nsec3.zone \
	util/dns/tests/zones/optout.zone

UNIT_TESTS += \
	util/dns/tests/denial \
	util/dns/tests/dname \
	util/dns/tests/edns \
	util/dns/tests/msg_read \
	util/dns/tests/msg_write \
	util/dns/tests/reason \
	util/dns/tests/rr \
	util/dns/tests/rrset \
	util/dns/tests/text \
	util/dns/tests/text_series \
	util/dns/tests/text_svcb
