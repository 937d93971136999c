# services/config: a snapshot made from options; TLS contexts and discovery of encrypted resolvers, of the configuration.
libresolver_la_SOURCES += \
	services/config/build.c \
	services/config/discovery.c services/config/discovery.h \
	services/config/tls.c services/config/tls.h

UNIT_TESTS += \
	services/config/tests/build \
	services/config/tests/tls
