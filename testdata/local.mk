# testdata: scenarios; fuzz targets and their corpora.
#
# To add a scenario: a file in testdata/replay, and nothing else.
TESTS += testdata/replay.test

# To add a fuzz target: testdata/fuzz/ROOM.c with LLVMFuzzerTestOneInput(), a folder testdata/fuzz/ROOM/ of small
# inputs, and one line here, in alphabetical order. With --enable-fuzzing (clang) each is a libFuzzer
# program; without, driver.c stands in. `make check` replays every corpus either way, the driver adding
# some thousand cheap changes of each input, for three seconds. To look for more: contrib/fuzz. Words that
# inputs are made of stand in testdata/fuzz/ROOM.dict.
FUZZ_TARGETS = \
	testdata/fuzz/addr.fuzz \
	testdata/fuzz/anchorfile.fuzz \
	testdata/fuzz/answer.fuzz \
	testdata/fuzz/blocklist.fuzz \
	testdata/fuzz/conftext.fuzz \
	testdata/fuzz/control.fuzz \
	testdata/fuzz/denial.fuzz \
	testdata/fuzz/dname.fuzz \
	testdata/fuzz/edns.fuzz \
	testdata/fuzz/iterator.fuzz \
	testdata/fuzz/json.fuzz \
	testdata/fuzz/journal.fuzz \
	testdata/fuzz/log_json.fuzz \
	testdata/fuzz/msg.fuzz \
	testdata/fuzz/proxy2.fuzz \
	testdata/fuzz/request.fuzz \
	testdata/fuzz/resolver.fuzz \
	testdata/fuzz/scenario.fuzz \
	testdata/fuzz/session.fuzz \
	testdata/fuzz/stream.fuzz \
	testdata/fuzz/subnet.fuzz \
	testdata/fuzz/text.fuzz \
	testdata/fuzz/upstream.fuzz \
	testdata/fuzz/verify.fuzz

if DOH
FUZZ_TARGETS += \
	testdata/fuzz/doh.fuzz \
	testdata/fuzz/http.fuzz \
	testdata/fuzz/http2_client.fuzz
endif

if AUTH_ZONES
FUZZ_TARGETS += \
	testdata/fuzz/rpz.fuzz \
	testdata/fuzz/transfer.fuzz \
	testdata/fuzz/zonefile.fuzz
endif
if CACHEDB
FUZZ_TARGETS += \
	testdata/fuzz/cachedb.fuzz
endif
if CACHEFILE
FUZZ_TARGETS += \
	testdata/fuzz/cachefile.fuzz \
	testdata/fuzz/load_cache.fuzz
endif
if DNSTAP
FUZZ_TARGETS += \
	testdata/fuzz/dnstap.fuzz
endif
if LEASES
FUZZ_TARGETS += \
	testdata/fuzz/leasefile.fuzz
endif
if CACHEDB
if CACHEFILE
FUZZ_TARGETS += testdata/fuzz/kept.fuzz
endif
endif

testdata_fuzz_json_fuzz_LDADD = daemon/tools/control_json.$(OBJEXT) $(LDADD)
testdata_fuzz_resolver_fuzz_LDADD = libreplay.la $(LDADD)
testdata_fuzz_scenario_fuzz_LDADD = libreplay.la $(LDADD)
testdata_fuzz_session_fuzz_LDADD = daemon/tools/control_json.$(OBJEXT) libreplay.la $(LDADD)

check_PROGRAMS += $(FUZZ_TARGETS)
TESTS += $(FUZZ_TARGETS)
FUZZ_LOG_COMPILER = $(SHELL) $(top_srcdir)/testdata/fuzz/replay.sh

if FUZZING
FUZZ_MAIN = $(LIBFUZZER)
else
check_LIBRARIES = testdata/fuzz/libdriver.a
testdata_fuzz_libdriver_a_SOURCES = testdata/fuzz/driver.c
FUZZ_MAIN = testdata/fuzz/libdriver.a
endif

# The adversary of a whole internet (testdata/hostile/README.md).
if PARTS
noinst_PROGRAMS += testdata/hostile/hostile
endif
testdata_hostile_hostile_SOURCES = \
	testdata/hostile/adversary.c testdata/hostile/adversary.def testdata/hostile/adversary.h \
	testdata/hostile/adversary_more.c testdata/hostile/adversary_rules.c \
	testdata/hostile/choices.c testdata/hostile/choices.h \
	testdata/hostile/config.c \
	testdata/hostile/forwarder.c \
	testdata/hostile/held.c \
	testdata/hostile/places.c \
	testdata/hostile/internet.c testdata/hostile/internet.h \
	testdata/hostile/judge.c \
	testdata/hostile/keys.c testdata/hostile/keys.h testdata/hostile/keys_crypto.c \
	testdata/hostile/main.c \
	testdata/hostile/play.c testdata/hostile/play.h \
	testdata/hostile/operator.c testdata/hostile/operator.h \
	testdata/hostile/script.c testdata/hostile/script.h \
	testdata/hostile/shrink.c testdata/hostile/shrink.h \
	testdata/hostile/single.c testdata/hostile/single.h \
	testdata/hostile/story.c testdata/hostile/story.def testdata/hostile/story_operator.c \
	testdata/hostile/tell.c \
	testdata/hostile/told.c testdata/hostile/told.h \
	testdata/hostile/trace.h \
	testdata/hostile/withheld.c \
	testdata/hostile/zone.c testdata/hostile/zone.h
testdata_hostile_hostile_LDADD = libreplay.la libresolver.la $(SECCOMP_LIBS) $(JEMALLOC_LIBS)
# What the linker puts in the place of the validator's arithmetic (testdata/hostile/keys.h).
testdata_hostile_hostile_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=crypto_key_new -Wl,--wrap=crypto_key_free \
	-Wl,--wrap=crypto_key_size -Wl,--wrap=crypto_key_cost -Wl,--wrap=crypto_verify \
	-Wl,--wrap=zonedata_read -Wl,--wrap=timebase_read -Wl,--wrap=daemon_reconfigure -Wl,--wrap=thread_job_start -Wl,--wrap=thread_job_join -Wl,--wrap=rcu_turn_begin \
	-Wl,--wrap=rcu_turn_end -Wl,--wrap=rcu_retire -Wl,--wrap=rcu_retire_idly -Wl,--wrap=rcu_release \
	-Wl,--wrap=rcu_wait -Wl,--wrap=rcu_flush
