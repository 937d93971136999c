# daemon/worker: a worker, and a packet's way through it: from a client to a cached answer, or to the mesh.
libresolver_la_SOURCES += \
	daemon/worker/caches.c daemon/worker/caches.h \
	daemon/worker/chaos.c daemon/worker/chaos.h \
	daemon/worker/frontend.c daemon/worker/frontend.h \
	daemon/worker/full_answer.c daemon/worker/full_answer.h \
	daemon/worker/local.c daemon/worker/local.h \
	daemon/worker/modules.c daemon/worker/modules.h \
	daemon/worker/client_query.c daemon/worker/client_query.h \
	daemon/worker/snoop.c daemon/worker/snoop.h \
	daemon/worker/worker.c daemon/worker/worker.h

EXTRA_DIST += daemon/worker/tests/world.h

UNIT_TESTS += \
	daemon/worker/tests/chaos \
	daemon/worker/tests/snoop \
	daemon/worker/tests/frontend \
	daemon/worker/tests/frontend_clients
