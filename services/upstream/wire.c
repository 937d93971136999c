/* A query to a server as bytes, and whether a message that came back answers it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/upstream/wire.h"

#include "services/query/env.h"
#include "services/query/snapshot.h"
#include "util/base/mem.h"
#include "util/base/random.h"
#include "util/conf/options.h"

#include <string.h>

/* Randomise the case of every query (draft-vixie-dnsext-dns0x20). */
static void spell(struct random *random, uint8_t *name)
{
	for (; *name; name += 1 + *name) {
		uint64_t bits = random_u64(random);

		for (unsigned i = 1; i <= *name; i++, bits >>= 1) {
			uint8_t low = ascii_lower[name[i]];

			if (low >= 'a' && low <= 'z')
				name[i] = bits & 1 ? (uint8_t)(low - 'a' + 'A') : low;
		}
	}
}

/* Pad to the next multiple of the block size (RFC 8467 4.1); the OPT is the last record. */
static void pad(const struct conf_server *conf, struct writer *w, size_t options)
{
	static const uint8_t zeros[UPSTREAM_PADDED_MAX];
	size_t block = conf->pad_queries_block_size, len = writer_len(w) + 4, whole;

	if (!conf->pad_queries || len > UPSTREAM_PADDED_MAX)
		return;
	whole = MIN((len + block - 1) / block * block, (size_t)UPSTREAM_PADDED_MAX);
	put_u16(w->at - options - 2, (uint16_t)(options + 4 + whole - len));
	edns_write_option(w, EDNS_PADDING, zeros, whole - len);
}

bool upstream_asks_keepalive(const struct upstream_question *q, const struct upstream_form *form)
{
	return form->with_edns &&
	       (form->way == TRANSPORT_TLS || (form->way == TRANSPORT_TCP && q->recurse));
}

static void tell_subnet(struct writer *w, const struct netblock *subnet)
{
	struct subnet_option o = subnet_shown(subnet);
	uint8_t data[SUBNET_OPTION_MAX];

	edns_write_option(w, EDNS_CLIENT_SUBNET, data, subnet_write(&o, data));
}

static struct slice options_for(const struct snapshot *s, const struct upstream_question *q,
				const struct upstream_form *form,
				uint8_t room[UPSTREAM_OPTIONS_MAX])
{
	const char *text = server_text_find(s->server_texts, &q->server);
	struct writer w = writer_over(room, UPSTREAM_OPTIONS_MAX);

	if (!form->with_edns)
		return (struct slice){ 0 };
	if (text)
		edns_write_option(&w, (uint16_t)s->conf->server.edns_client_string_opcode, text,
				  strlen(text));
	if (UNLIKELY(q->subnet != NULL))
		tell_subnet(&w, q->subnet);
	if (upstream_asks_keepalive(q, form))
		edns_write_option(&w, EDNS_KEEPALIVE, NULL, 0);
	return (struct slice){ .at = room, .len = writer_len(&w) };
}

size_t upstream_write(const struct env *env, const struct upstream_question *q,
		      const struct upstream_form *form, uint8_t wire[UPSTREAM_WIRE_MAX])
{
	const struct conf_server *conf = &env->snapshot->conf->server;
	struct writer w = writer_over(wire, UPSTREAM_WIRE_MAX);
	uint16_t flags =
		(uint16_t)((q->recurse ? FLAG_RD : 0) | (q->checking_disabled ? FLAG_CD : 0));
	uint8_t options[UPSTREAM_OPTIONS_MAX];
	struct edns opt = { .present = form->with_edns,
			    .udp_size = (uint16_t)conf->edns_buffer_size,
			    .flags = q->dnssec && !conf->disable_edns_do ? EDNS_DO : 0,
			    .options = options_for(env->snapshot, q, form, options) };

	msg_write_query(&w, 0, flags, &q->q, &opt);
	if (transport_is_private(form->way) && form->with_edns)
		pad(conf, &w, opt.options.len);
	PROMISE(!w.bad);
	if (form->capped)
		spell(env->random, wire + MSG_HEAD_LEN);
	return writer_len(&w);
}

enum upstream_echo upstream_check_echo(const uint8_t *sent, bool capped, const uint8_t *got,
				       size_t len)
{
	const uint8_t *ours = sent + MSG_HEAD_LEN, *theirs;
	size_t name_len = dname_len(ours);
	unsigned rcode;

	if (len < MSG_HEAD_LEN || !(msg_flags(got) & FLAG_QR) || msg_opcode(got) != OPCODE_QUERY)
		return ECHO_NONE;
	rcode = msg_rcode(got);
	if (get_u16(got + 4) == 0)
		return rcode == RCODE_FORMERR || rcode == RCODE_NOTIMP ? ECHO_ABSENT : ECHO_NONE;
	if (get_u16(got + 4) != 1 || len < MSG_HEAD_LEN + name_len + 4)
		return ECHO_NONE;
	theirs = got + MSG_HEAD_LEN;
	if (memcmp(theirs + name_len, ours + name_len, 4) != 0 || !dname_equals_len(theirs, name_len, ours, name_len))
		return ECHO_NONE;
	if (capped && memcmp(theirs, ours, name_len) != 0)
		return ECHO_MANGLED;
	return ECHO_TRUE;
}

bool upstream_refuses_edns(const struct message *m)
{
	return m->rcode == RCODE_FORMERR || m->rcode == RCODE_NOTIMP || m->rcode == RCODE_BADVERS;
}
