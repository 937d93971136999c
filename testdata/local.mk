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
	testdata/fuzz/cachedb.fuzz \
	testdata/fuzz/cachefile.fuzz \
	testdata/fuzz/conftext.fuzz \
	testdata/fuzz/control.fuzz \
	testdata/fuzz/denial.fuzz \
	testdata/fuzz/dname.fuzz \
	testdata/fuzz/doh.fuzz \
	testdata/fuzz/edns.fuzz \
	testdata/fuzz/http.fuzz \
	testdata/fuzz/http2_client.fuzz \
	testdata/fuzz/iterator.fuzz \
	testdata/fuzz/leasefile.fuzz \
	testdata/fuzz/load_cache.fuzz \
	testdata/fuzz/msg.fuzz \
	testdata/fuzz/proxy2.fuzz \
	testdata/fuzz/request.fuzz \
	testdata/fuzz/resolver.fuzz \
	testdata/fuzz/rpz.fuzz \
	testdata/fuzz/scenario.fuzz \
	testdata/fuzz/session.fuzz \
	testdata/fuzz/stream.fuzz \
	testdata/fuzz/subnet.fuzz \
	testdata/fuzz/text.fuzz \
	testdata/fuzz/transfer.fuzz \
	testdata/fuzz/upstream.fuzz \
	testdata/fuzz/verify.fuzz

testdata_fuzz_resolver_fuzz_LDADD = libreplay.la $(LDADD)
testdata_fuzz_scenario_fuzz_LDADD = libreplay.la $(LDADD)
testdata_fuzz_session_fuzz_LDADD = libreplay.la $(LDADD)

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
