# daemon: see doc/STYLE.md 1. One line per room, in alphabetical order.
libresolver_la_SOURCES += \
	daemon/aside.c daemon/aside.h \
	daemon/caches.c daemon/caches.h \
	daemon/call.c daemon/call.h daemon/call_text.h \
	daemon/capabilities.c daemon/capabilities.h \
	daemon/changes.c daemon/changes.h \
	daemon/chaos.c daemon/chaos.h \
	daemon/control.c daemon/control.def daemon/control.h \
	daemon/control_auth.c \
	daemon/control_block.c \
	daemon/control_cache.c \
	daemon/control_commands.c \
	daemon/control_cookies.c \
	daemon/control_doors.c daemon/control_doors.h \
	daemon/control_dump.c \
	daemon/control_leases.c \
	daemon/control_load.c \
	daemon/control_local.c \
	daemon/control_options.c \
	daemon/control_process.c \
	daemon/control_rates.c \
	daemon/control_reload.c \
	daemon/control_request.c daemon/control_request.h \
	daemon/control_requests.c \
	daemon/control_stats.c daemon/control_stats.h \
	daemon/control_trust.c daemon/control_trust.h \
	daemon/control_upstreams.c daemon/control_upstreams.h \
	daemon/control_why.c \
	daemon/control_witness.c daemon/control_witness.h \
	daemon/control_zones.c \
	daemon/cores.c daemon/cores.h \
	daemon/daemon.c daemon/daemon.h \
	daemon/doors.c daemon/doors.h \
	daemon/files.c daemon/files.h \
	daemon/forgetting.c daemon/forgetting.h \
	daemon/frontend.c daemon/frontend.h \
	daemon/frontend_local.c daemon/frontend_local.h \
	daemon/handed.c daemon/handed.h \
	daemon/http.c daemon/http.h \
	daemon/http_host.c daemon/http_host.h \
	daemon/journey.c daemon/journey.h \
	daemon/keeper.c daemon/keeper.h \
	daemon/knock.c daemon/knock.h \
	daemon/leases.c daemon/leases.h \
	daemon/log_conf.c daemon/log_conf.h \
	daemon/modules.c daemon/modules.h \
	daemon/notify.c daemon/notify.h \
	daemon/pages.c daemon/pages.h \
	daemon/pages_sources.c daemon/pages_sources.h \
	daemon/pidfile.c daemon/pidfile.h \
	daemon/present.c daemon/present.h \
	daemon/privileges.c daemon/privileges.h \
	daemon/pulse.c daemon/pulse.h \
	daemon/purge.c daemon/purge.h \
	daemon/reread.c daemon/reread.h \
	daemon/sandbox.c daemon/sandbox.def daemon/sandbox.h daemon/sandbox_private.h \
	daemon/sandbox_calls.c daemon/sandbox_files.c \
	daemon/serve.c daemon/serve.h \
	daemon/shape.c daemon/shape.def daemon/shape.h \
	daemon/snoop.c daemon/snoop.h \
	daemon/stopper.c daemon/stopper.h \
	daemon/watch.c daemon/watch.h \
	daemon/worker.c daemon/worker.h

bin_PROGRAMS += resolver-host
resolver_host_SOURCES = daemon/host.c
resolver_host_LDADD = libresolver.la $(JEMALLOC_LIBS)

sbin_PROGRAMS += resolver-anchor resolver-checkconf resolver-control resolverd
resolver_anchor_SOURCES = daemon/anchor.c
resolver_anchor_LDADD = libresolver.la $(JEMALLOC_LIBS)
resolver_checkconf_SOURCES = daemon/checkconf.c
resolver_checkconf_LDADD = libresolver.la $(JEMALLOC_LIBS)
resolver_control_SOURCES = daemon/control_client.c daemon/control_json.c daemon/control_json.h \
	daemon/control_man.c daemon/control_man.h daemon/control_more.def
resolver_control_LDADD = libresolver.la $(JEMALLOC_LIBS)

# Knows where the configuration is.
sbin_SCRIPTS = resolver-control-setup
CLEANFILES += resolver-control-setup
resolver-control-setup: $(srcdir)/contrib/resolver-control-setup.in Makefile
	$(AM_V_GEN)$(FILL_IN) $(srcdir)/contrib/resolver-control-setup.in >$@.tmp
	@chmod +x $@.tmp && mv $@.tmp $@

# Plays scenarios; not installed. Switches that only tests may have live here and nowhere else.
noinst_LTLIBRARIES += libreplay.la
libreplay_la_SOURCES = \
	daemon/replay_config.c daemon/replay_config.h \
	daemon/replay_entry.c daemon/replay_entry.h daemon/replay_match.c \
	daemon/replay_loose.c daemon/replay_loose.h \
	daemon/replay_macro.c daemon/replay_macro.h \
	daemon/replay_play.c daemon/replay_play.h \
	daemon/replay_rrs.c daemon/replay_rrs.h \
	daemon/replay_scenario.c daemon/replay_scenario.h \
	daemon/replay_world.c daemon/replay_world.h
noinst_PROGRAMS += resolver-replay
resolver_replay_SOURCES = daemon/replay.c
resolver_replay_LDADD = libreplay.la libresolver.la $(JEMALLOC_LIBS)

resolverd_SOURCES = daemon/main.c
resolverd_LDADD = libresolver.la $(SECCOMP_LIBS) $(JEMALLOC_LIBS)
TESTS += daemon/tests/advice.sh daemon/tests/anchor.sh daemon/tests/checkconf.sh
EXTRA_DIST += daemon/tests/advice.sh daemon/tests/anchor.sh daemon/tests/checkconf.sh daemon/tests/control_house.h

if HAVE_CMOCKA
DAEMON_TESTS = \
	daemon/tests/control \
	daemon/tests/control_doors \
	daemon/tests/control_request \
	daemon/tests/files \
	daemon/tests/dump \
	daemon/tests/frontend \
	daemon/tests/http_host \
	daemon/tests/replay_entry \
	daemon/tests/replay_macro \
	daemon/tests/replay_play \
	daemon/tests/sandbox \
	daemon/tests/sandbox_files \
	daemon/tests/shape \
	daemon/tests/stopper \
	daemon/tests/watch

daemon_tests_replay_entry_LDADD = libreplay.la $(LDADD)
daemon_tests_replay_macro_LDADD = libreplay.la $(LDADD)
daemon_tests_replay_play_LDADD = libreplay.la $(LDADD)

check_PROGRAMS += $(DAEMON_TESTS)
TESTS += $(DAEMON_TESTS)
endif
