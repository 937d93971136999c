/* Claims about playing scenarios: whose answer is taken, what passes and what fails.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/replay/play.h"

#include <unistd.h>

#include "util/base/hash.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/tests/wire.h"

static void no_line(const char *line, void *arg)
{
	(void)line;
	(void)arg;
}

static int begin(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	hash_start(true);
	rcu_thread_join();
	log_capture(no_line, NULL);
	return 0;
}

static int end(void **state)
{
	(void)state;
	log_capture(NULL, NULL);
	rcu_flush();
	rcu_thread_leave();
	return 0;
}

static struct play_result play(const char *text)
{
	static const struct play_how how = { .strict = true };
	const char *base = getenv("TMPDIR");
	char *path = mem_textf("%s/replay-test-XXXXXX", base && *base ? base : "/tmp");
	int fd = mkstemp(path);
	size_t len = strlen(text);
	struct play_result r;

	assert_true(fd >= 0 && write(fd, text, len) == (ssize_t)len);
	close(fd);
	play_file(path, &how, &r);
	unlink(path);
	mem_free(path);
	return r;
}

struct story {
	const char *why, *text;
	enum play_end end;
	const char *because; /* part of the reason */
};

static void tell(const struct story *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct play_result r = play(rows[i].text);

		if (r.end != rows[i].end)
			fail_msg("%s: %s %s", rows[i].why,
				 r.end == PLAY_PASSED   ? "passes"
				 : r.end == PLAY_FAILED ? "fails"
							: "is skipped",
				 r.why);
		if (rows[i].because && !strstr(r.why, rows[i].because))
			fail_msg("%s: \"%s\" does not say \"%s\"", rows[i].why, r.why,
				 rows[i].because);
	}
}

#define CONF                                                                                   \
	"server:\n\ttarget-fetch-policy: \"0 0 0 0 0\"\n\tqname-minimisation: no\n"            \
	"stub-zone:\n\tname: \"example\"\n\tstub-addr: 192.0.2.1\nCONFIG_END\nSCENARIO_BEGIN " \
	"test\n"
#define END "SCENARIO_END\n"
#define ENTRY(words, rest) \
	"ENTRY_BEGIN\n" words "\nSECTION QUESTION\nwww.example. IN A\n" rest "ENTRY_END\n"
#define DATA(ttl, ip) "SECTION ANSWER\nwww.example. " ttl " IN A " ip "\n"
#define ANSWER(ip) \
	ENTRY("MATCH opcode qtype qname\nADJUST copy_id\nREPLY QR AA NOERROR", DATA("60", ip))
#define MUST(ip)                                                                        \
	ENTRY("MATCH opcode qtype qname\nMANDATORY\nADJUST copy_id\nREPLY QR AA NOERROR", \
	      DATA("60", ip))
#define RANGE(steps, body) "RANGE_BEGIN " steps "\n" body "RANGE_END\n"
#define QUERY(n)           "STEP " n " QUERY\n" ENTRY("REPLY RD", "")
#define CHECK(n, ip) \
	"STEP " n " CHECK_ANSWER\n" ENTRY("MATCH all\nREPLY QR RD RA NOERROR", DATA("60", ip))
#define OUT(n, words) "STEP " n " CHECK_OUT_QUERY" words "\n" ENTRY("MATCH qname qtype", "")

static void a_range_answers_in_its_steps_at_its_address(void **state)
{
	(void)state;
	static const struct story rows[] = {
		{ "every address",
		  CONF RANGE("0 9", ANSWER("192.0.2.7")) QUERY("1") CHECK("2", "192.0.2.7") END,
		  PLAY_PASSED, NULL },
		{ "its address",
		  CONF RANGE("0 9", "ADDRESS 192.0.2.1\n" ANSWER("192.0.2.7")) QUERY("1")
			  CHECK("2", "192.0.2.7") END,
		  PLAY_PASSED, NULL },
		{ "its address and port",
		  CONF RANGE("0 9", "ADDRESS 192.0.2.1@53\n" ANSWER("192.0.2.7")) QUERY("1")
			  CHECK("2", "192.0.2.7") END,
		  PLAY_PASSED, NULL },
		{ "another address",
		  CONF RANGE("0 9", "ADDRESS 192.0.2.2\n" ANSWER("192.0.2.7")) QUERY("1")
			  CHECK("2", "192.0.2.7") END,
		  PLAY_FAILED, "step 2: no answer" },
		{ "another port",
		  CONF RANGE("0 9", "ADDRESS 192.0.2.1@5353\n" ANSWER("192.0.2.7")) QUERY("1")
			  CHECK("2", "192.0.2.7") END,
		  PLAY_FAILED, "step 2: no answer" },
		{ "the last range comes first",
		  CONF RANGE("0 9", ANSWER("192.0.2.7")) RANGE("0 9", ANSWER("192.0.2.8"))
			  QUERY("1") CHECK("2", "192.0.2.8") END,
		  PLAY_PASSED, NULL },
		{ "the first entry comes first",
		  CONF RANGE("0 9", ANSWER("192.0.2.7") ANSWER("192.0.2.8")) QUERY("1")
			  CHECK("2", "192.0.2.7") END,
		  PLAY_PASSED, NULL },
		{ "the step that waits is what counts",
		  CONF RANGE("2 2", ANSWER("192.0.2.7")) QUERY("1") CHECK("2", "192.0.2.7") END,
		  PLAY_PASSED, NULL },
		{ "its time is over",
		  CONF RANGE("0 1", ANSWER("192.0.2.7")) QUERY("1") CHECK("2", "192.0.2.7") END,
		  PLAY_FAILED, "step 2: no answer" },
		{ "its time comes",
		  CONF RANGE("3 9", ANSWER("192.0.2.7"))
			  QUERY("1") "STEP 2 NOTHING\n"
				     "STEP 3 TRAFFIC\n" CHECK("4", "192.0.2.7") END,
		  PLAY_PASSED, NULL },
	};

	tell(rows, COUNT(rows));
}

static void a_scenario_ends_with_nothing_left_over(void **state)
{
	(void)state;
	static const struct story rows[] = {
		{ "a question nobody answered", CONF QUERY("1") END, PLAY_FAILED,
		  "at the end a question is outstanding: www.example. A" },
		{ "an answer nobody looked at",
		  CONF RANGE("0 9", ANSWER("192.0.2.7")) QUERY("1") "STEP 2 TRAFFIC\n" END,
		  PLAY_FAILED, "at the end an answer was not looked at" },
		{ "another address in the answer",
		  CONF RANGE("0 9", ANSWER("192.0.2.7")) QUERY("1") CHECK("2", "192.0.2.8") END,
		  PLAY_FAILED, "answer lacks www.example. 60 IN A 192.0.2.8" },
		{ "nothing at all", CONF END, PLAY_PASSED, NULL },
	};

	tell(rows, COUNT(rows));
}

static void questions_to_servers_can_be_looked_at_and_ended(void **state)
{
	(void)state;
	static const struct story rows[] = {
		{ "it is sent, and stays outstanding",
		  CONF QUERY("1") OUT("2", "") "STEP 3 REPLY\n" ANSWER("192.0.2.7")
			  CHECK("4", "192.0.2.7") END,
		  PLAY_PASSED, NULL },
		{ "to this address",
		  CONF QUERY("1") OUT("2", " ADDRESS 192.0.2.1") "STEP 3 REPLY\n" ANSWER(
			  "192.0.2.7") CHECK("4", "192.0.2.7") END,
		  PLAY_PASSED, NULL },
		{ "not to that one", CONF QUERY("1") OUT("2", " ADDRESS 192.0.2.2") END,
		  PLAY_FAILED, "step 2: the question was not sent" },
		{ "nothing is sent", CONF OUT("2", "") END, PLAY_FAILED,
		  "step 2: the question was not sent" },
		{ "there is nothing to reply to", CONF "STEP 1 REPLY\n" ANSWER("192.0.2.7") END,
		  PLAY_FAILED, "step 1: no question is outstanding" },
		{ "there is nothing to time out", CONF "STEP 1 TIMEOUT\n" END, PLAY_FAILED,
		  "step 1: no question is outstanding" },
		{ "a copy_id answers what is outstanding",
		  CONF QUERY("1") "STEP 2 NOTHING\n"
				  "STEP 3 CHECK_OUT_QUERY\n" ANSWER("192.0.2.7")
					  CHECK("4", "192.0.2.7") END,
		  PLAY_PASSED, NULL },
		{ "after a timeout it is sent again",
		  CONF QUERY("1") OUT("2", "") "STEP 3 TIMEOUT\n"
					       "STEP 4 REPLY\n" ANSWER("192.0.2.7")
						       CHECK("5", "192.0.2.7") END,
		  PLAY_PASSED, NULL },
	};

	tell(rows, COUNT(rows));
}

#define LATER(n, ttl) \
	QUERY(n)      \
	"STEP " n     \
	"0 CHECK_ANSWER\n" ENTRY("MATCH all ttl\nREPLY QR RD RA NOERROR", DATA(ttl, "192.0.2.7"))
#define CACHED CONF RANGE("0 2", ANSWER("192.0.2.7")) QUERY("1") CHECK("2", "192.0.2.7")

static void time_passes_when_told(void **state)
{
	(void)state;
	static const struct story rows[] = {
		{ "not by itself", CACHED LATER("4", "60") END, PLAY_PASSED, NULL },
		{ "seconds", CACHED "STEP 3 TIME_PASSES ELAPSE 10\n" LATER("4", "50") END,
		  PLAY_PASSED, NULL },
		{ "with a comment",
		  CACHED "STEP 3 TIME_PASSES ELAPSE 10 ; a while\n" LATER("4", "50") END,
		  PLAY_PASSED, NULL },
		{ "fractions add up",
		  CACHED "STEP 3 TIME_PASSES ELAPSE 0.6\nSTEP 4 TIME_PASSES ELAPSE 0.6\n" LATER(
			  "5", "59") END,
		  PLAY_PASSED, NULL },
		{ "worked out",
		  CACHED "STEP 3 ASSIGN a = ${2 + 3}\nSTEP 4 ASSIGN b=${time}\n"
			 "STEP 5 TIME_PASSES EVAL ${$a * 2 + $b}\n" LATER("6", "50") END,
		  PLAY_PASSED, NULL },
		{ "of what nobody has set", CACHED "STEP 3 TIME_PASSES EVAL ${$c}\n" END,
		  PLAY_FAILED, "step 3: no variable $c" },
		{ "by how much", CACHED "STEP 3 TIME_PASSES\n" END, PLAY_FAILED,
		  "how much time passes" },
	};

	tell(rows, COUNT(rows));
}

static void a_scenario_changes_and_checks_the_caches(void **state)
{
	(void)state;
	static const struct story rows[] = {
		{ "a message is dropped",
		  CACHED "STEP 3 FLUSH_MESSAGE www.example. IN A\n" QUERY("4") OUT(
			  "5", "") "STEP 6 REPLY\n" ANSWER("192.0.2.8") CHECK("7", "192.0.2.8") END,
		  PLAY_PASSED, NULL },
		{ "a message expires",
		  CACHED "STEP 3 EXPIRE_MESSAGE www.example. IN A\n" QUERY("4") OUT(
			  "5", "") "STEP 6 REPLY\n" ANSWER("192.0.2.8") CHECK("7", "192.0.2.8") END,
		  PLAY_PASSED, NULL },
		{ "of what", CACHED "STEP 3 FLUSH_MESSAGE www.example.\n" END, PLAY_FAILED,
		  "needs name, class and type" },
		{ "of whom", CACHED "STEP 3 INFRA_RTT 192.0.2.1 example.\n" END, PLAY_FAILED,
		  "INFRA_RTT needs" },
	};

	tell(rows, COUNT(rows));
}

#define BEGIN_FILE "TEMPFILE_CONTENTS hints\n. IN NS a.\na. IN A 192.0.2.1\nTEMPFILE_END\n"

static void files_belong_to_a_scenario(void **state)
{
	(void)state;
	static const struct story rows[] = {
		{ "as it was written",
		  BEGIN_FILE CONF "STEP 1 CHECK_TEMPFILE hints\nFILE_BEGIN\n. IN NS a.\n"
				  "a. IN A 192.0.2.${1 * 1}\nFILE_END\n" END,
		  PLAY_PASSED, NULL },
		{ "another line",
		  BEGIN_FILE CONF "STEP 1 CHECK_TEMPFILE hints\nFILE_BEGIN\n. IN NS a.\n"
				  "a. IN A 192.0.2.2\nFILE_END\n" END,
		  PLAY_FAILED, "line 2 is" },
		{ "a line more",
		  BEGIN_FILE CONF "STEP 1 CHECK_TEMPFILE hints\nFILE_BEGIN\n. IN NS a.\n"
				  "FILE_END\n" END,
		  PLAY_FAILED, "more lines" },
		{ "a line less",
		  BEGIN_FILE CONF "STEP 1 CHECK_TEMPFILE hints\nFILE_BEGIN\n. IN NS a.\n"
				  "a. IN A 192.0.2.1\nb. IN A 192.0.2.1\nFILE_END\n" END,
		  PLAY_FAILED, "ends before" },
	};

	tell(rows, COUNT(rows));
}

static void what_cannot_be_read_names_its_line(void **state)
{
	(void)state;
	static const struct story rows[] = {
		{ "no configuration's end", "server:\n", PLAY_FAILED, "CONFIG_END is missing" },
		{ "no scenario's end", CONF, PLAY_FAILED, "SCENARIO_END is missing" },
		{ "an unknown step", CONF "STEP 1 WAIT\n" END, PLAY_FAILED,
		  "line 9: no such step: WAIT" },
		{ "a step that takes nothing", CONF "STEP 1 TRAFFIC now\n" END, PLAY_FAILED,
		  "does not take: now" },
		{ "a remark behind it", CONF "STEP 1 TRAFFIC ; now\n" END, PLAY_PASSED, NULL },
		{ "an address misspelt", CONF "STEP 1 QUERY ADRESS 192.0.2.1\n" END, PLAY_FAILED,
		  "does not take: ADRESS" },
		{ "a step back", CONF "STEP 2 NOTHING\nSTEP 1 NOTHING\n" END, PLAY_FAILED,
		  "step 1 comes behind step 2" },
		{ "an unknown directive", CONF "RANGE 0 9\n" END, PLAY_FAILED, "unexpected: RANGE 0 9" },
		{ "a directive of an entry", CONF "MANDATORY\n" END, PLAY_FAILED, "unexpected" },
		{ "an unknown $ directive", CONF "$TLL 5\n" END, PLAY_FAILED, "unexpected" },
		{ "a second end", CONF "RANGE_END\nENTRY_END\n" END, PLAY_PASSED, NULL },
		{ "a record left over", CONF "www.example. IN A 192.0.2.1\n" END, PLAY_PASSED, NULL },
		{ "no time", CONF "STEP 1 TIME_PASSES ELAPSE soon\n" END, PLAY_FAILED, "how much time" },
		{ "time back", CONF "STEP 1 TIME_PASSES ELAPSE -1\n" END, PLAY_FAILED, "how much time" },
		{ "other words for time", CONF "STEP 1 TIME_PASSES 5\n" END, PLAY_FAILED, "how much time" },
		{ "a fraction of time", CONF "STEP 1 TIME_PASSES ELAPSE 1.5 ; more\n" END, PLAY_PASSED,
		  NULL },
		{ "a file elsewhere", CONF "STEP 1 CHECK_TEMPFILE x\nFILE\n" END, PLAY_FAILED,
		  "expected FILE_BEGIN" },
		{ "a step without its entry", CONF "STEP 1 QUERY\n" END, PLAY_FAILED,
		  "ENTRY_BEGIN" },
		{ "an open range", CONF "RANGE_BEGIN 0 9\n", PLAY_FAILED, "RANGE_END is missing" },
		{ "a range without steps", CONF "RANGE_BEGIN\nRANGE_END\n" END, PLAY_FAILED,
		  "two step numbers" },
		{ "an unknown option", "server:\n\tno-such-thing: yes\nCONFIG_END\n" END,
		  PLAY_FAILED, "no-such-thing" },
		{ "what is for later", "server:\n\tdlv-anchor-file: \"x\"\nCONFIG_END\n" END,
		  PLAY_PASSED, NULL },
		{ "behind the end anything goes", CONF END "what ever\n", PLAY_PASSED, NULL },
	};

	tell(rows, COUNT(rows));
}

#define DECKARD "stub-addr: 192.0.2.1\nquery-minimization: off\nCONFIG_END\nSCENARIO_BEGIN test\n"
#define ROOT                                                                            \
	"ENTRY_BEGIN\nMATCH qtype qname\nADJUST copy_id\nREPLY QR AA NOERROR\nSECTION " \
	"QUESTION\n. IN NS\n"                                                           \
	"SECTION ANSWER\n. IN NS a.\nSECTION ADDITIONAL\na. IN A 192.0.2.1\nENTRY_END\n"
#define DECKARD_CHECK(n, ip)                                                                     \
	"STEP " n " CHECK_ANSWER\n" ENTRY("MATCH rcode question answer\nREPLY QR RD RA NOERROR", \
					  DATA("60", ip))
#define DECKARD_FAILS(n) \
	"STEP " n " CHECK_ANSWER\n" ENTRY("MATCH rcode\nREPLY QR RD RA SERVFAIL", "")

static void deckard_takes_the_first_eligible_range_only(void **state)
{
	(void)state;
	static const struct story rows[] = {
		{ "the first range comes first",
		  DECKARD RANGE("0 9", ROOT ANSWER("192.0.2.7"))
			  RANGE("0 9", ROOT ANSWER("192.0.2.8")) QUERY("1")
				  DECKARD_CHECK("2", "192.0.2.7") END,
		  PLAY_PASSED, NULL },
		{ "what is mandatory is used",
		  DECKARD RANGE("0 9", ROOT MUST("192.0.2.7")) QUERY("1")
			  DECKARD_CHECK("2", "192.0.2.7") END,
		  PLAY_PASSED, NULL },
		{ "what is mandatory is not used",
		  DECKARD RANGE("0 9", ROOT ANSWER("192.0.2.7") MUST("192.0.2.8")) QUERY("1")
			  DECKARD_CHECK("2", "192.0.2.7") END,
		  PLAY_FAILED, "mandatory" },
		{ "no entry of it fits: a failure",
		  DECKARD RANGE("0 9", ROOT) RANGE("0 9", ANSWER("192.0.2.8")) QUERY("1")
			  DECKARD_FAILS("2") END,
		  PLAY_PASSED, NULL },
		{ "a range of another step is not eligible",
		  DECKARD RANGE("5 9", ROOT) RANGE("0 4", ROOT ANSWER("192.0.2.8")) QUERY("1")
			  DECKARD_CHECK("2", "192.0.2.8") END,
		  PLAY_PASSED, NULL },
		{ "a range of another address is not eligible",
		  DECKARD RANGE("0 9", "ADDRESS 192.0.2.2\n" ANSWER("192.0.2.7")) RANGE(
			  "0 9", "ADDRESS 192.0.2.3\nADDRESS 192.0.2.1\n" ROOT ANSWER("192.0.2.8"))
			  QUERY("1") DECKARD_CHECK("2", "192.0.2.8") END,
		  PLAY_PASSED, NULL },
		{ "the step is that of the question",
		  DECKARD RANGE("1 1", ROOT ANSWER("192.0.2.7")) QUERY("1")
			  DECKARD_CHECK("2", "192.0.2.7") END,
		  PLAY_PASSED, NULL },
		{ "an unknown key", "stub-adr: 192.0.2.1\nstub-addr: 192.0.2.1\nCONFIG_END\n" END,
		  PLAY_FAILED, "unknown key" },
	};

	tell(rows, COUNT(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_range_answers_in_its_steps_at_its_address),
		cmocka_unit_test(a_scenario_ends_with_nothing_left_over),
		cmocka_unit_test(questions_to_servers_can_be_looked_at_and_ended),
		cmocka_unit_test(time_passes_when_told),
		cmocka_unit_test(a_scenario_changes_and_checks_the_caches),
		cmocka_unit_test(files_belong_to_a_scenario),
		cmocka_unit_test(what_cannot_be_read_names_its_line),
		cmocka_unit_test(deckard_takes_the_first_eligible_range_only),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
