# daemon/replay: the program that plays scenarios; not installed.
# Plays scenarios; not installed. Switches that only tests may have live here and nowhere else.
noinst_LTLIBRARIES += libreplay.la
libreplay_la_SOURCES = \
	daemon/replay/config.c daemon/replay/config.h \
	daemon/replay/knot_policy.c daemon/replay/knot_policy.h \
	daemon/replay/entry.c daemon/replay/entry.h daemon/replay/match.c \
	daemon/replay/loose.c daemon/replay/loose.h \
	daemon/replay/macro.c daemon/replay/macro.h \
	daemon/replay/play.c daemon/replay/play.h \
	daemon/replay/rrs.c daemon/replay/rrs.h \
	daemon/replay/scenario.c daemon/replay/scenario.h \
	daemon/replay/world.c daemon/replay/world.h
noinst_PROGRAMS += resolver-replay
resolver_replay_SOURCES = daemon/replay/replay.c
resolver_replay_LDADD = libreplay.la libresolver.la $(JEMALLOC_LIBS)

UNIT_TESTS += \
	daemon/replay/tests/entry \
	daemon/replay/tests/macro \
	daemon/replay/tests/play
daemon_replay_tests_entry_LDADD = libreplay.la $(LDADD)
daemon_replay_tests_macro_LDADD = libreplay.la $(LDADD)
daemon_replay_tests_play_LDADD = libreplay.la $(LDADD)
