# daemon/pages: pages over HTTP.
if PAGES
libresolver_la_SOURCES += \
	daemon/pages/http.c daemon/pages/http.h \
	daemon/pages/http_host.c daemon/pages/http_host.h \
	daemon/pages/pages.c daemon/pages/pages.h \
	daemon/pages/sources.c daemon/pages/sources.h

UNIT_TESTS += \
	daemon/pages/tests/http_host
else
libresolver_la_SOURCES += daemon/pages/none.c
endif
