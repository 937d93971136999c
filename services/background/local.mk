# services/background: the thread for slow work, and fetching files over HTTPS.
libresolver_la_SOURCES += \
	services/background/fetch.c services/background/fetch.h \
	services/background/loader.c services/background/loader.h

UNIT_TESTS += \
	services/background/tests/loader
