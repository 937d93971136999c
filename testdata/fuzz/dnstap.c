/* Any message to or from anybody, reported to dnstap: what the collector reads is what was reported.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Input: packets, each behind two bytes of length and six that say whose it is (see take_packet). Protobuf and Frame
 * Streams are read here by nothing of what wrote them. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "util/base/msgring.h"
#include "services/dnstap/tap.h"
#include "services/dnstap/tests/protobuf.h"
#include "services/dnstap/wire.h"
#include "services/net/client.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/base/random.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { PACKETS_MOST = DNSTAP_FRAMES, NS_PER_S = 1000000000, STREAM_MOST = 1 << 17 };

struct told {
	enum tap_kind kind;
	unsigned protocol;
	struct addr asker, asked;
	uint64_t before_ns, query_ns, after_ns;
	uint8_t zone[DNAME_MAX];
	bool has_zone;
	struct slice wire;
};

static struct {
	struct tap tap;
	struct msgring *queue;
	struct msgring_bell bell;
	struct random random;
	struct told told[PACKETS_MOST];
	unsigned count;
	/* the collector */
	char folder[64], path[80];
	struct dnstap_wire *wire;
	int fd;
} it = { .fd = -1 };

static const char identity[] = "who \xff are you", version[] = "1";

/* ---- what a report must say (dnstap.proto) ---- */

static void check_address(const struct field *ip, const struct field *port, const struct addr *a)
{
	static const uint8_t none[16];

	if (a->family && memcmp(a->ip, none, sizeof(none)) != 0)
		PROMISE(protobuf_is(ip, a->ip, a->family == 6 ? 16 : 4));
	else
		PROMISE(ip->times == 0);
	PROMISE(port->times == (a->family && a->port));
	PROMISE(port->number == (a->family ? a->port : 0));
}

static void check_times(const struct told *t, const struct field m[FIELDS])
{
	uint64_t asked_ns = m[8].number * NS_PER_S + m[9].number;
	uint64_t answered_ns = m[12].number * NS_PER_S + m[13].number;

	PROMISE(m[9].number < NS_PER_S && m[13].number < NS_PER_S);
	PROMISE(m[8].times == m[9].times && m[12].times == m[13].times);
	if (t->kind == TAP_CLIENT_QUERY)
		PROMISE(asked_ns >= t->before_ns && asked_ns <= t->after_ns);
	else
		PROMISE(asked_ns == t->query_ns);
	PROMISE(m[12].times == tap_is_response(t->kind));
	PROMISE(!m[12].times || (answered_ns >= t->before_ns && answered_ns <= t->after_ns));
}

static void check_frame(const struct told *t, struct slice frame)
{
	struct field top[FIELDS], m[FIELDS];
	unsigned family = t->asker.family ? t->asker.family : t->asked.family;

	protobuf_take(frame, top);
	PROMISE(protobuf_is(&top[1], identity, sizeof(identity) - 1) && protobuf_is(&top[2], version, sizeof(version) - 1));
	PROMISE(top[15].times && top[15].number == 1 && top[14].times);
	protobuf_take(top[14].bytes, m);
	PROMISE(m[1].times && m[1].number == t->kind && m[3].number == t->protocol);
	PROMISE(m[2].times == (family != 0) && m[2].number == (family == 6 ? 2 : family == 4));
	check_address(&m[4], &m[6], &t->asker);
	check_address(&m[5], &m[7], &t->asked);
	check_times(t, m);
	if (t->has_zone)
		PROMISE(protobuf_is(&m[11], t->zone, dname_len(t->zone)));
	else
		PROMISE(m[11].times == 0);
	PROMISE(protobuf_is(&m[tap_is_response(t->kind) ? 14 : 10], t->wire.at, t->wire.len));
	PROMISE(m[tap_is_response(t->kind) ? 10 : 14].times == 0);
}

/* ---- the collector (Frame Streams) ---- */

static void tidy(void)
{
	unlink(it.path);
	rmdir(it.folder);
}

static bool wait_for(void *arg, int fd, short events, uint32_t patience_ms)
{
	struct pollfd p = { .fd = fd, .events = events };

	(void)arg;
	return poll(&p, 1, (int)patience_ms) == 1;
}

/* Any number of bytes up to `room`; none are there yet: 0. */
static size_t hear(uint8_t *to, size_t room)
{
	size_t len = 0;
	ssize_t n;

	while (len < room && (n = recv(it.fd, to + len, room - len, MSG_DONTWAIT)) > 0)
		len += (size_t)n;
	return len;
}

/* START, with the content type: 0 0 0 0, length, 0 0 0 2, 0 0 0 1, its length, itself. */
static void check_greeting(void)
{
	static const char content[] = "protobuf:dnstap.Dnstap";
	uint8_t heard[256];
	size_t len = hear(heard, sizeof(heard)), type = sizeof(content) - 1;

	PROMISE(len == 20 + type && get_u32(heard) == 0 && get_u32(heard + 4) == 12 + type);
	PROMISE(get_u32(heard + 8) == 2 && get_u32(heard + 12) == 1 && get_u32(heard + 16) == type);
	PROMISE(memcmp(heard + 20, content, type) == 0);
}

static void connect_once(void)
{
	static const struct dnstap_how how = { .wait = wait_for };
	static struct dnstap_place place;
	const char *base = getenv("TMPDIR");
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct fault f = { 0 };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(it.folder, sizeof(it.folder), "%s/dnstap-XXXXXX", base && *base && strlen(base) < 40 ? base : "/tmp");
	PROMISE(mkdtemp(it.folder));
	snprintf(it.path, sizeof(it.path), "%s/s", it.folder);
	atexit(tidy);
	memcpy(at.sun_path, it.path, strlen(it.path) + 1);
	PROMISE(bind(listener, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(listener, 1) == 0);
	place = (struct dnstap_place){ .text = it.path, .socket = it.path };
	it.wire = dnstap_wire_open(&place, &how, &f);
	it.fd = it.wire ? accept(listener, NULL, NULL) : -1;
	close(listener);
	if (it.fd >= 0) /* a build without dnstap has no wire */
		check_greeting();
}

/* One frame after the other, each behind its length; nothing between and after them. */
static void check_stream(const struct slice *frames, unsigned count)
{
	static uint8_t heard[STREAM_MOST];
	size_t len, at = 0;

	if (it.fd < 0)
		return;
	PROMISE(dnstap_wire_write(it.wire, frames, count));
	len = hear(heard, sizeof(heard));
	for (unsigned i = 0; i < count; i++) {
		PROMISE(len - at >= 4 && get_u32(heard + at) == frames[i].len);
		at += 4;
		PROMISE(len - at >= frames[i].len && memcmp(heard + at, frames[i].at, frames[i].len) == 0);
		at += frames[i].len;
	}
	PROMISE(at == len);
}

/* ---- packets ---- */

static struct addr address(uint8_t how, uint8_t more)
{
	static const uint8_t families[4] = { 0, 4, 6, 4 };
	struct addr a = { .family = families[how & 3], .port = (uint16_t)((how & 4 ? more : 0) << (how & 8)) };

	if (how & 0x10)
		for (unsigned i = 0; i < (a.family == 6 ? 16 : a.family); i++)
			a.ip[i] = (uint8_t)(more + i * how);
	return a;
}

static void report_client(struct told *t, uint8_t how)
{
	static const struct client_ops all[] = {
		{ .name = "udp" },
		{ .name = "tcp", .stream = true },
		{ .name = "tls", .stream = true, .encrypted = true },
		{ .name = "https", .stream = true, .encrypted = true, .https = true },
	};
	struct client c = { .ops = &all[how & 3], .from = t->asker, .reached = t->asked, .came_ns = t->query_ns };

	t->protocol = 1 + (how & 3);
	t->has_zone = false;
	t->kind = how & 4 ? TAP_CLIENT_RESPONSE : TAP_CLIENT_QUERY;
	if (how & 4)
		tap_client_response(&it.tap, &c, t->wire.at, t->wire.len);
	else
		tap_client_query(&it.tap, &c, &t->wire);
}

static void report_server(struct told *t, uint8_t how)
{
	struct tap_asking a = { .forwarder = how & 8,
				.protocol = (enum tap_protocol)(1 + (how & 3)),
				.from = &t->asker,
				.server = &t->asked,
				.zone = t->has_zone ? t->zone : NULL,
				.asked_ns = t->query_ns };

	t->protocol = a.protocol;
	t->kind = (how & 8 ? TAP_FORWARDER_QUERY : TAP_RESOLVER_QUERY) + (how & 4 ? 1 : 0);
	if (how & 4)
		tap_server_response(&it.tap, &a, &t->wire);
	else
		tap_server_query(&it.tap, &a, &t->wire);
}

/* Two bytes of length; two for each address; one for kind and protocol; one for the time, and whether there is a zone, which is
 * the name the packet begins with. */
static bool take_packet(struct reader *r)
{
	struct told *t = &it.told[it.count];
	size_t len = read_u16(r), name;
	const uint8_t *about = read_bytes(r, 6);

	len = MIN(len, reader_left(r));
	if (!about)
		return false;
	*t = (struct told){ .asker = address(about[0], about[1]), .asked = address(about[2], about[3]) };
	t->wire = (struct slice){ read_bytes(r, len), len };
	t->query_ns = about[5] & 0x7f ? ((uint64_t)about[5] << 56) / (about[4] + 1u) % (UINT64_C(1) << 62) : 0;
	name = len ? dname_measure(t->wire.at, t->wire.at + len) : 0;
	t->has_zone = name && about[5] & 0x80;
	if (t->has_zone)
		memcpy(t->zone, t->wire.at, name);
	t->before_ns = tap_now_ns();
	(about[4] & 0x10 ? report_client : report_server)(t, about[4]);
	t->after_ns = tap_now_ns();
	it.count++;
	return true;
}

static void begin_once(void)
{
	static struct conf *conf; /* stays */

	if (it.queue)
		return;
	it.bell.fd = open("/dev/null", O_WRONLY);
	it.queue = msgring_new(&it.bell);
	conf = conf_new();
	conf->dnstap.dnstap_enable = conf->dnstap.dnstap_send_identity = conf->dnstap.dnstap_send_version = true;
	mem_free(conf->dnstap.dnstap_identity);
	conf->dnstap.dnstap_identity = mem_text(identity);
	mem_free(conf->dnstap.dnstap_version);
	conf->dnstap.dnstap_version = mem_text(version);
	conf->dnstap.dnstap_log_client_query_messages = conf->dnstap.dnstap_log_client_response_messages = true;
	conf->dnstap.dnstap_log_resolver_query_messages = conf->dnstap.dnstap_log_resolver_response_messages = true;
	conf->dnstap.dnstap_log_forwarder_query_messages = conf->dnstap.dnstap_log_forwarder_response_messages = true;
	random_init(&it.random);
	tap_adopt(&it.tap, conf, it.queue, &it.random);
	connect_once();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct reader r = reader_over(data, len);
	struct slice frames[PACKETS_MOST];

	if (len > 16384)
		return 0;
	begin_once();
	it.count = 0;
	while (reader_left(&r) && it.count < PACKETS_MOST && take_packet(&r))
		;
	PROMISE(msgring_look(it.queue, frames, PACKETS_MOST) == it.count);
	for (unsigned i = 0; i < it.count; i++)
		check_frame(&it.told[i], frames[i]);
	if (it.count)
		check_stream(frames, it.count);
	msgring_done(it.queue, it.count, true);
	PROMISE(msgring_is_empty(it.queue));
	return 0;
}
