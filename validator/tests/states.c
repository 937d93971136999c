/* Claims about the validator's states: which events each takes, and that any other ends the query.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * EVENT_ASK and EVENT_ANSWER come with the control only: never to a module that waits. */
#include "services/query/query.h"
#include "util/base/log.h"
#include "validator/tests/lab.h"

enum { RESOLVING, JUDGING, STATES };

static const char *const names[] = { [RESOLVING] = "resolving", [JUDGING] = "validating" };
static const char *const events[] = { "ask", "answer", "child", "reply", "timer", "turn" };

static const unsigned taken[STATES] = {
	[RESOLVING] = 1u << EVENT_ASK | 1u << EVENT_ANSWER,
	[JUDGING] = WAKE_CHILD | WAKE_TURN,
};

static char lines[4096];

static void on_line(const char *line, void *arg)
{
	size_t len = strlen(lines);

	(void)arg;
	snprintf(lines + len, sizeof(lines) - len, "%s\n", line);
}

/* What the validator is given in place of the first question. */
static enum event_kind instead;
static struct query *asked;

static enum step operate(struct query *q, void *state, const struct event *ev)
{
	static struct message reply;
	static struct query child = { .reply = &reply };

	if (ev->kind == EVENT_ASK && q->depth == 0) {
		asked = q;
		return validator_module.operate(q, state, &(struct event){ .kind = instead, .child = &child });
	}
	return validator_module.operate(q, state, ev);
}

static void begin(void)
{
	static struct module under;
	static const struct module servers = {
		.name = "iterator", .state_size = 1, .wakes = WAKE_ANY, .operate = lab_operate
	};
	static const struct module *const chain[] = { &under, &servers, NULL };

	lab_open("");
	under = validator_module;
	under.operate = operate;
	instead = EVENT_ASK;
	mesh_free(lab.env.mesh);
	lab.env.mesh = mesh_new(&lab.env, chain);
	lab_tell(&(struct lab_page){ "www.example.", TYPE_A, .answer = "www.example. 300 IN A 192.0.2.80" });
	for (unsigned i = 0; i < lab.page_count; i++)
		lab.pages[i].page.slow = lab.pages[i].m.q.type == TYPE_DNSKEY;
	lines[0] = '\0';
	log_capture(on_line, NULL);
}

static void end(void)
{
	log_capture(NULL, NULL);
	lab_close();
}

static unsigned stuck(void)
{
	return (unsigned)atomic_load(&lab.stats.count[STAT_queries_stuck]);
}

static void with_the_events_it_takes_a_query_goes_on(void **state)
{
	(void)state;
	for (unsigned turns = 0; turns < 2; turns++) {
		struct lab_heard *h;

		begin();
		h = lab_ask("www.example.", TYPE_A);
		assert_false(h->done);
		if (turns) /* too early: its child has not come */
			mesh_wake(asked, &(struct event){ .kind = EVENT_TURN });
		assert_false(h->done);
		lab_deliver();
		assert_true(h->done);
		assert_int_equal(h->security, SECURITY_SECURE);
		assert_int_equal(stuck(), 0);
		end();
	}
}

static void any_other_event_ends_the_query(void **state)
{
	(void)state;
	for (unsigned s = 0; s < STATES; s++)
		for (unsigned e = 0; e < EVENT_KINDS; e++) {
			struct lab_heard *h;
			char said[80];

			if (taken[s] & 1u << e || (s == JUDGING && (e == EVENT_ASK || e == EVENT_ANSWER)))
				continue;
			begin();
			instead = s == JUDGING ? EVENT_ASK : (enum event_kind)e;
			h = lab_ask("www.example.", TYPE_A);
			if (s == JUDGING)
				mesh_wake(asked, &(struct event){ .kind = (enum event_kind)e });
			if (!h->done || h->rcode != RCODE_SERVFAIL || stuck() != 1)
				fail_msg("%s takes event %s", names[s], events[e]);
			snprintf(said, sizeof(said), "state %s, event %s", names[s], s == JUDGING ? events[e] : "ask");
			if (!strstr(lines, said))
				fail_msg("the log says: %s", lines);
			end();
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_the_events_it_takes_a_query_goes_on),
		cmocka_unit_test(any_other_event_ends_the_query),
	};

	return cmocka_run_group_tests_name("states", tests, NULL, NULL);
}
