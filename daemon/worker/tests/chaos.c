/* Claims about what is told of the server itself, in class CH.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/worker/chaos.h"

#include <string.h>
#include <unistd.h>

#include "services/tests/conf.h"
#include "services/tests/made.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/tests/turn.h"
#include "validator/trust.h"

#define DIGEST "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static struct arena arena;

/* The character strings of the answer, "|" behind each; or its RCODE. */
static const char *ask_chaos(const struct chaos *c, const char *name, uint16_t type)
{
	static const struct answer_style style = { .udp_size = 4096, .max_udp = 4096 };
	static char text[65536];
	struct request r = { .q = made_question(name, type), .edns = { .present = true, .udp_size = 4096 } };
	struct answer_to to = { .style = &style, .request = &r, .stream = true };
	static uint8_t room[65536];
	struct writer out = writer_over(room, sizeof(room));
	struct message m;
	struct slice rd;
	size_t len = 0;

	r.q.class_ = CLASS_CH;
	chaos_answer(c, &to, &out);
	assert_true(msg_parse(room, writer_len(&out), &arena, 0, &m));
	*text = '\0';
	if (m.rcode != RCODE_NOERROR) {
		snprintf(text, sizeof(text), "%u", m.rcode);
		return text;
	}
	if (m.count[SECTION_ANSWER] == 0)
		return "nothing";
	assert_int_equal(m.sets[0]->type, TYPE_TXT);
	assert_int_equal(m.sets[0]->class_, CLASS_CH);
	assert_true(dname_equals(rrset_owner(m.sets[0]), r.q.name));
	for (struct rrset_walk w = rrset_records(m.sets[0]); rrset_next(&w, &rd);) {
		assert_int_equal(rd.at[0] + 1, rd.len);
		memcpy(text + len, rd.at + 1, rd.at[0]);
		len += rd.at[0];
		text[len++] = '|';
		text[len] = '\0';
	}
	return text;
}

struct opened {
	struct conf *conf;
	struct chaos *chaos;
	struct trust_store trust;
};

static struct opened begin(const char *more)
{
	struct opened m = { .conf = conf_from(more) };

	arena_init(&arena);
	m.trust.anchors = anchors_empty();
	return m;
}

static void finish(struct opened *m)
{
	chaos_free(m->chaos);
	anchors_free(m->trust.anchors);
	conf_free(m->conf);
	arena_clear(&arena);
}

/* The program's name and version, and the host's name, unless others are configured. */
static void a_server_says_who_it_is(void **state)
{
	(void)state;
	char host[256] = "", want[260];
	struct opened m = begin("server:");

	assert_int_equal(gethostname(host, sizeof(host) - 1), 0);
	snprintf(want, sizeof(want), "%s|", host);
	m.chaos = chaos_new(m.conf, NULL);
	assert_string_equal(ask_chaos(m.chaos, "id.server.", TYPE_TXT), want);
	assert_string_equal(ask_chaos(m.chaos, "hostname.bind.", TYPE_TXT), want);
	assert_string_equal(ask_chaos(m.chaos, "version.server.", TYPE_ANY), PACKAGE_STRING "|");
	assert_string_equal(ask_chaos(m.chaos, "version.bind.", TYPE_TXT), PACKAGE_STRING "|");
	assert_string_equal(ask_chaos(m.chaos, "trustanchor.unbound.", TYPE_TXT), "nothing");
	finish(&m);
	m = begin("server:\n identity: me\n version: mine\n");
	m.chaos = chaos_new(m.conf, NULL);
	assert_string_equal(ask_chaos(m.chaos, "ID.server.", TYPE_TXT), "me|");
	assert_string_equal(ask_chaos(m.chaos, "hostname.bind.", TYPE_ANY), "me|");
	assert_string_equal(ask_chaos(m.chaos, "version.server.", TYPE_TXT), "mine|");
	assert_string_equal(ask_chaos(m.chaos, "version.bind.", TYPE_TXT), "mine|");
	assert_string_equal(ask_chaos(m.chaos, "version.bind.", TYPE_MX), "5");
	assert_string_equal(ask_chaos(m.chaos, "a.version.bind.", TYPE_TXT), "5");
	finish(&m);
}

/* Each hides its two names, and nothing else. */
static void what_is_hidden_is_refused(void **state)
{
	(void)state;
	static const char *const names[] = { "id.server.", "hostname.bind.", "version.server.", "version.bind.", "trustanchor.unbound." };
	static const struct {
		const char *option;
		unsigned hidden; /* bits */
	} rows[] = { { "hide-identity: yes", 3 }, { "hide-version: yes", 12 }, { "hide-trustanchor: yes", 16 }, { "", 0 } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[100];
		struct opened m;

		snprintf(text, sizeof(text), "server:\n %s\n", rows[i].option);
		m = begin(text);
		assert_true(anchors_add_text(m.trust.anchors, ". DS 7 8 2 " DIGEST, NULL));
		m.chaos = chaos_new(m.conf, &m.trust);
		for (size_t n = 0; n < COUNT(names); n++) {
			const char *got = ask_chaos(m.chaos, names[n], TYPE_TXT);

			if ((strcmp(got, "5") == 0) != (rows[i].hidden >> n & 1))
				fail_msg("%s: %s: %s", rows[i].option, names[n], got);
		}
		finish(&m);
	}
}

/* A string has at most 255 bytes. */
static void the_longest_identity_is_told_whole(void **state)
{
	(void)state;
	for (size_t len = 254; len <= 255; len++) {
		char text[400], identity[300];
		struct opened m;

		memset(identity, 'i', len);
		identity[len] = '\0';
		snprintf(text, sizeof(text), "server:\n identity: %s\n", identity);
		m = begin(text);
		m.chaos = chaos_new(m.conf, NULL);
		assert_int_equal(strlen(ask_chaos(m.chaos, "id.server.", TYPE_TXT)), len + 1);
		finish(&m);
	}
}

/* As they are when it is asked: names, and the tags of their records. */
static void trust_anchors_are_listed_as_they_are(void **state)
{
	(void)state;
	struct opened m = begin("server:");
	char label[64], line[400], text[300] = "";
	const char *got;

	m.chaos = chaos_new(m.conf, &m.trust);
	assert_string_equal(ask_chaos(m.chaos, "trustanchor.unbound.", TYPE_TXT), "nothing");
	assert_true(anchors_add_text(m.trust.anchors, "b.example. DS 7 8 2 " DIGEST, NULL));
	assert_true(anchors_add_text(m.trust.anchors, "b.example. DS 9 8 2 " DIGEST, NULL));
	assert_string_equal(ask_chaos(m.chaos, "trustanchor.unbound.", TYPE_TXT), "b.example. 7 9|");
	assert_true(anchors_add_text(m.trust.anchors, ". DS 11 8 2 " DIGEST, NULL));
	got = ask_chaos(m.chaos, "trustanchor.unbound.", TYPE_TXT);
	assert_non_null(strstr(got, ". 11|"));
	assert_non_null(strstr(got, "b.example. 7 9|"));
	finish(&m);

	/* 251 bytes of name, and as many tags as there is room for */
	m = begin("server:");
	memset(label, 'l', 62);
	label[62] = '\0';
	for (unsigned i = 0; i < 3; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s.", label);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), "%.61s.", label);
	for (unsigned tag = 11; tag < 20; tag++) {
		snprintf(line, sizeof(line), "%s DS %u 8 2 " DIGEST, text, tag);
		assert_true(anchors_add_text(m.trust.anchors, line, NULL));
	}
	m.chaos = chaos_new(m.conf, &m.trust);
	got = ask_chaos(m.chaos, "trustanchor.unbound.", TYPE_TXT);
	assert_int_equal(strlen(got), 256);
	assert_memory_equal(got, text, 251);
	assert_string_equal(got + 251, " 11 |");
	finish(&m);
}

/* An answer has 64 of them at most. */
static void so_many_trust_anchors_are_listed(void **state)
{
	(void)state;
	for (unsigned count = 63; count <= 66; count++) {
		struct opened m = begin("server:");
		unsigned got = 0;
		char line[120];

		for (unsigned i = 0; i < count; i++) {
			snprintf(line, sizeof(line), "n%u.example. DS 7 8 2 " DIGEST, i);
			assert_true(anchors_add_text(m.trust.anchors, line, NULL));
		}
		m.chaos = chaos_new(m.conf, &m.trust);
		for (const char *at = ask_chaos(m.chaos, "trustanchor.unbound.", TYPE_TXT); (at = strchr(at, '|')); at++)
			got++;
		assert_int_equal(got, MIN(count, 64u));
		finish(&m);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		CLAIM(a_server_says_who_it_is),
		CLAIM(what_is_hidden_is_refused),
		CLAIM(the_longest_identity_is_told_whole),
		CLAIM(trust_anchors_are_listed_as_they_are),
		CLAIM(so_many_trust_anchors_are_listed),
	};

	return RUN_CLAIMS(claims, NULL, NULL);
}
