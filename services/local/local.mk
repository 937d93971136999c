# services/local: local zones and data, tags, and the data of records that replace others.
libresolver_la_SOURCES += \
	services/local/batch.c \
	services/local/build.c \
	services/local/default_zones.def \
	services/local/node.c \
	services/local/private.h \
	services/local/record.c \
	services/local/record_data.c services/local/record_data.h \
	services/local/tags.c services/local/tags.h \
	services/local/zones.c services/local/zones.h \
	services/local/zonetype.def

UNIT_TESTS += \
	services/local/tests/record_data services/local/tests/tags \
	services/local/tests/zones
