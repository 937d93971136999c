/* Claims about zones that are sent elsewhere.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/forward/forward.h"

#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/hash.h"

static struct forwards *forwards_from(const char *text)
{
	struct conf *conf = conf_from(text);
	struct fault f = { 0 };
	struct forwards *t = forwards_new(conf, &f);

	if (!t)
		fail_msg("%s", f.text);
	conf_free(conf);
	return t;
}

static const char zones[] =
	"forward-zone:\n name: \".\"\n forward-addr: 192.0.2.1\n"
	"forward-zone:\n name: Corp.example\n forward-addr: 192.0.2.2\n"
	"forward-zone:\n name: open.corp.example\n"
	"stub-zone:\n name: lab.corp.example.\n stub-addr: 192.0.2.3\n stub-prime: yes\n"
	"stub-zone:\n name: both.example\n stub-addr: 192.0.2.4\n"
	"forward-zone:\n name: both.example\n forward-addr: 192.0.2.5\n";

static void the_closest_zone_is_found(void **state)
{
	(void)state;
	static const struct {
		const char *name, *zone, *stub, *exact;
		bool is_stub;
	} rows[] = {
		{ ".", ".", NULL, ".", false },
		{ "www.net.", ".", NULL, NULL, false },
		{ "corp.example.", "corp.example.", NULL, "corp.example.", false },
		{ "WWW.CORP.example.", "corp.example.", NULL, NULL, false },
		{ "xcorp.example.", ".", NULL, NULL, false },
		{ "lab.corp.example.", "lab.corp.example.", "lab.corp.example.",
		  "lab.corp.example.", true },
		{ "a.lab.corp.example.", "lab.corp.example.", "lab.corp.example.", NULL, true },
		{ "open.corp.example.", NULL, NULL, "open.corp.example.", false },
		{ "a.open.corp.example.", NULL, NULL, NULL, false },
		{ "x.both.example.", "both.example.", "both.example.", NULL, false },
	};
	struct forwards *t = forwards_from(zones);

	for (size_t i = 0; i < COUNT(rows); i++) {
		const uint8_t *name = N(rows[i].name);
		const struct forward_zone *z = forwards_find(t, name);
		const struct forward_zone *stub = forwards_find_stub(t, name);
		const struct forward_zone *exact = forwards_find_exact(t, name);

		if (!z != !rows[i].zone || !stub != !rows[i].stub || !exact != !rows[i].exact)
			fail_msg("%s: zone %d, stub %d, exactly %d", rows[i].name, !!z, !!stub,
				 !!exact);
		if (z) {
			assert_name_is(z->name, rows[i].zone);
			assert_int_equal(z->is_stub, rows[i].is_stub);
		}
		if (stub)
			assert_name_is(stub->name, rows[i].stub);
		if (exact)
			assert_name_is(exact->name, rows[i].exact);
	}
	forwards_free(t);
}

static void servers_are_read_in_every_spelling(void **state)
{
	(void)state;
	static const struct {
		const char *option, *text, *ip, *host, *tls_name;
		uint16_t port;
		bool tls;
	} rows[] = {
		{ "addr", "192.0.2.1", "192.0.2.1", NULL, NULL, 53, false },
		{ "addr", "192.0.2.1@5353", "192.0.2.1", NULL, NULL, 5353, false },
		{ "addr", "192.0.2.1@853#dns.example.net", "192.0.2.1", NULL, "dns.example.net",
		  853, false },
		{ "addr", "192.0.2.1#dns.example.net", "192.0.2.1", NULL, "dns.example.net", 853,
		  true },
		{ "addr", "2001:db8::1", "2001:db8::1", NULL, NULL, 853, true },
		{ "addr", "2001:db8::1@853#d", "2001:db8::1", NULL, "d", 853, false },
		{ "host", "Ns.Example.net", NULL, "ns.example.net.", NULL, 53, false },
		{ "host", "ns.example.net@8853#x", NULL, "ns.example.net.", "x", 8853, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct forward_server *s;
		struct forwards *t;
		char conf[256], ip[ADDR_TEXT];

		snprintf(conf, sizeof(conf),
			 "forward-zone:\n name: example\n forward-tls-upstream: %s\n forward-%s: "
			 "\"%s\"\n",
			 rows[i].tls ? "yes" : "no", rows[i].option, rows[i].text);
		t = forwards_from(conf);
		assert_int_equal(forwards_find(t, N("example."))->server_count, 1);
		s = &forwards_find(t, N("example."))->servers[0];
		if (s->port != rows[i].port)
			fail_msg("%s: port %u", rows[i].text, s->port);
		if (rows[i].ip) {
			assert_int_equal(s->addr.port, rows[i].port);
			assert_string_equal(addr_print(&s->addr, rows[i].port, ip), rows[i].ip);
			assert_null(s->host);
		} else {
			assert_int_equal(s->addr.family, 0);
			assert_name_is(s->host, rows[i].host);
		}
		if (rows[i].tls_name)
			assert_string_equal(s->tls_name, rows[i].tls_name);
		else
			assert_null(s->tls_name);
		forwards_free(t);
	}
}

static void servers_over_https_have_a_path(void **state)
{
	(void)state;
	static const struct {
		const char *text, *tls_name, *path;
		uint16_t port;
	} rows[] = {
		{ "192.0.2.1", NULL, "/dns-query", 443 },
		{ "192.0.2.1@8443#dns.example.net", "dns.example.net", "/dns-query", 8443 },
		{ "192.0.2.1@443#dns.example.net/ask/me?x=1", "dns.example.net", "/ask/me?x=1",
		  443 },
		{ "192.0.2.1#dns.example.net/", "dns.example.net", "/", 443 },
		{ "192.0.2.1#/ask", NULL, "/ask", 443 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct forward_server *s;
		const struct forward_zone *z;
		struct forwards *t, *more;
		char conf[256];

		snprintf(conf, sizeof(conf),
			 "forward-zone:\n name: example\n forward-https-upstream: yes\n "
			 "forward-addr: \"%s\"\n",
			 rows[i].text);
		t = forwards_from(conf);
		more = forwards_changed(
			t, &(struct forward_change){ .name = N("x."), .remove = true }, NULL);
		for (unsigned turn = 0; turn < 2; turn++) {
			z = forwards_find(turn ? more : t, N("example."));
			assert_int_equal(z->transport, TRANSPORT_HTTPS);
			s = &z->servers[0];
			if (s->port != rows[i].port || strcmp(s->http_path, rows[i].path) != 0)
				fail_msg("%s: %u %s", rows[i].text, s->port, s->http_path);
			if (rows[i].tls_name)
				assert_string_equal(s->tls_name, rows[i].tls_name);
			else
				assert_null(s->tls_name);
		}
		forwards_free(t);
		forwards_free(more);
	}
}

static void a_strategy_is_one_of_four(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		enum forward_strategy want;
		unsigned racers;
	} rows[] = {
		{ "", STRATEGY_SPREAD, 0 },
		{ "forward-strategy: spread", STRATEGY_SPREAD, 0 },
		{ "forward-strategy: fastest", STRATEGY_FASTEST, 0 },
		{ "forward-strategy: ordered", STRATEGY_ORDERED, 0 },
		{ "forward-strategy: race 3", STRATEGY_RACE, 3 },
		{ "forward-strategy: \"race 2\"", STRATEGY_RACE, 2 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct forward_zone *z;
		struct forwards *t;
		char conf[256];

		snprintf(conf, sizeof(conf),
			 "forward-zone:\n name: f\n %s\n forward-addr: 192.0.2.1\n", rows[i].line);
		t = forwards_from(conf);
		z = forwards_find(t, N("f."));
		if (z->strategy != rows[i].want || z->racers != rows[i].racers)
			fail_msg("'%s': %d, %u", rows[i].line, (int)z->strategy, z->racers);
		forwards_free(t);
	}
}

static void options_of_a_zone_are_kept(void **state)
{
	(void)state;
	struct forwards *t = forwards_from(
		"forward-zone:\n name: f\n forward-addr: 192.0.2.1\n forward-first: yes\n"
		" forward-no-cache: yes\n forward-tcp-upstream: yes\n"
		"stub-zone:\n name: s\n stub-host: ns.s\n stub-addr: 192.0.2.1\n stub-first: yes\n "
		"stub-prime: yes\n");
	const struct forward_zone *f = forwards_find(t, N("f.")), *s = forwards_find(t, N("s."));

	assert_true(f->first && f->no_cache && f->transport == TRANSPORT_TCP && !f->prime && !f->is_stub);
	assert_true(s->first && !s->no_cache && s->transport == TRANSPORT_UDP && s->prime && s->is_stub);
	assert_int_equal(s->server_count, 2);
	assert_int_not_equal(f->id, s->id);
	forwards_free(t);
}

static bool count_zone(const struct forward_zone *z, void *arg)
{
	(void)z;
	return ++*(unsigned *)arg < 100;
}

static bool only_one(const struct forward_zone *z, void *arg)
{
	(void)z;
	++*(unsigned *)arg;
	return false;
}

static void a_changed_copy_leaves_the_old_one_alone(void **state)
{
	(void)state;
	char *const servers[] = { (char[]){ "192.0.2.77@5300" }, (char[]){ "ns.example.net" } };
	struct forward_change put = { .name = N("NEW.example."),
				      .servers = servers,
				      .server_count = 2 };
	struct forward_change cut = { .name = N("."), .remove = true };
	struct forwards *old = forwards_from(zones), *more, *less;
	struct fault f = { 0 };
	unsigned count = 0;

	more = forwards_changed(old, &put, &f);
	assert_non_null(more);
	less = forwards_changed(more, &cut, &f);
	assert_non_null(less);
	assert_int_equal(forwards_find(more, N("a.new.example."))->server_count, 2);
	assert_name_is(forwards_find(old, N("a.new.example."))->name, ".");
	assert_int_equal(forwards_find(more, N("new.example."))->servers[0].port, 5300);
	assert_name_is(forwards_find(less, N("new.example."))->servers[1].host, "ns.example.net.");
	assert_null(forwards_find(less, N("net.")));
	assert_int_not_equal(forwards_find(less, N("corp.example."))->id,
			     forwards_find(old, N("corp.example."))->id);
	forwards_each(less, count_zone, &count);
	assert_int_equal(count, 6);
	count = 0;
	forwards_each(less, only_one, &count);
	assert_int_equal(count, 1);

	put.servers = (char *const[]){ (char[]){ "192.0.2.77@no" } };
	put.server_count = 1;
	assert_null(forwards_changed(old, &put, &f));
	assert_non_null(strstr(f.text, "192.0.2.77@no"));
	forwards_free(less);
	forwards_free(more);
	forwards_free(old);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(the_closest_zone_is_found),
		cmocka_unit_test(servers_are_read_in_every_spelling),
		cmocka_unit_test(servers_over_https_have_a_path),
		cmocka_unit_test(a_strategy_is_one_of_four),
		cmocka_unit_test(options_of_a_zone_are_kept),
		cmocka_unit_test(a_changed_copy_leaves_the_old_one_alone),
	};

	hash_start(true);
	return cmocka_run_group_tests(claims, NULL, NULL);
}
