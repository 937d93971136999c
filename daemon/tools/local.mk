# daemon/tools: programs beside the daemon.
bin_PROGRAMS += resolver-host
resolver_host_SOURCES = daemon/tools/host.c daemon/tools/host_words.c daemon/tools/host_words.h
resolver_host_LDADD = libresolver.la $(JEMALLOC_LIBS)

sbin_PROGRAMS += resolver-anchor resolver-checkconf resolver-control
resolver_anchor_SOURCES = daemon/tools/anchor.c
resolver_anchor_LDADD = libresolver.la $(JEMALLOC_LIBS)
resolver_checkconf_SOURCES = daemon/tools/checkconf.c
resolver_checkconf_LDADD = libresolver.la $(JEMALLOC_LIBS)
resolver_control_SOURCES = daemon/tools/control_client.c daemon/tools/control_json.c daemon/tools/control_json.h \
	daemon/tools/control_man.c daemon/tools/control_man.h daemon/tools/control_more.def
resolver_control_LDADD = libresolver.la $(JEMALLOC_LIBS)

# Knows where the configuration is.
sbin_SCRIPTS = resolver-control-setup
CLEANFILES += resolver-control-setup
resolver-control-setup: $(srcdir)/contrib/resolver-control-setup.in Makefile
	$(AM_V_GEN)$(FILL_IN) $(srcdir)/contrib/resolver-control-setup.in >$@.tmp
	@chmod +x $@.tmp && mv $@.tmp $@

TESTS += daemon/tools/tests/advice.sh daemon/tools/tests/anchor.sh daemon/tools/tests/checkconf.sh

EXTRA_DIST += daemon/tools/tests/advice.sh daemon/tools/tests/anchor.sh daemon/tools/tests/checkconf.sh
