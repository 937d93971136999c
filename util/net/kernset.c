/* Sets of addresses in the kernel's packet filter, over netlink.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The messages are those of the kernel's headers linux/netfilter/ipset/ip_set.h and
 * linux/netfilter/nf_tables.h. The kernel has done what a message asks for when the call that sends
 * it returns, and its reply is there to be read: nothing here waits. */
#include "util/net/kernset.h"

#include <string.h>

#include "util/base/fault.h"
#include "util/base/mem.h"

#define NAME_MOST 64 /* of a table or a set, NUL included; the kernel has limits of its own */

enum { SETS_OF_IPSET = -1 };

/* The families of tables of nftables, by their number in the kernel. */
static const struct family {
	const char *word;
	int number;
} families[] = { { "ip", 2 }, { "ip6", 10 }, { "inet", 1 }, { "bridge", 7 }, { "arp", 3 }, { "netdev", 5 } };

struct set_name {
	int family; /* or SETS_OF_IPSET */
	char table[NAME_MOST], set[NAME_MOST];
};

/* ---- names ---- */

static const char *next_word(const char *at, size_t *len)
{
	at += strspn(at, " \t");
	*len = strcspn(at, " \t");
	return at;
}

static bool family_of(const char *word, size_t len, int *family)
{
	for (size_t i = 0; i < COUNT(families); i++) {
		if (strlen(families[i].word) == len && memcmp(families[i].word, word, len) == 0) {
			*family = families[i].number;
			return true;
		}
	}
	return false;
}

static bool read_name(const char *text, struct set_name *n, struct fault *f)
{
	const char *words[4];
	size_t len[4], count = 0;

	for (const char *at = text; count < 4; count++, at = words[count - 1] + len[count - 1]) {
		words[count] = next_word(at, &len[count]);
		if (len[count] == 0)
			break;
		if (len[count] >= NAME_MOST) {
			fault_set(f, "'%s': names of sets have at most %d characters", text, NAME_MOST - 1);
			return false;
		}
	}
	*n = (struct set_name){ .family = SETS_OF_IPSET };
	if (count != 1 && count != 3) {
		fault_set(f, "'%s': expected the name of an ipset, or family, table and name of a set of nftables",
			  text);
		return false;
	}
	memcpy(n->set, words[count - 1], len[count - 1]);
	if (count == 1)
		return true;
	memcpy(n->table, words[1], len[1]);
	if (family_of(words[0], len[0], &n->family))
		return true;
	fault_set(f, "'%s': '%.*s' is no family of nftables: ip, ip6, inet, bridge, arp or netdev", text,
		  (int)len[0], words[0]);
	return false;
}

bool kernset_check(const char *name, struct fault *f)
{
	struct set_name n;

	return read_name(name, &n, f);
}

void kernset_prepare(void)
{
	/* The right to it stays: CAP_NET_ADMIN (daemon/system/capabilities). */
}

#ifdef HAVE_LIBMNL

#include <errno.h>

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/ipset/ip_set.h>
#include <linux/netfilter/ipset/ip_set_hash.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#define ROOM 2048 /* a message is under 700 bytes, replies quote it */

struct kernset {
	struct mnl_socket *socket;
	struct set_name name;
	uint32_t sequence;
	bool known;        /* the next two are: nftables */
	bool has_ranges;   /* each element is the start or the end of a range */
	bool has_timeouts;
};

/* ---- talking to the kernel ---- */

static struct nlmsghdr *begin(struct kernset *s, char *at, int kind, int flags, int family, int resource)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(at);
	struct nfgenmsg *g;

	h->nlmsg_type = (uint16_t)kind;
	h->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	h->nlmsg_seq = s->sequence;
	g = mnl_nlmsg_put_extra_header(h, sizeof *g);
	g->nfgen_family = (uint8_t)family;
	g->version = NFNETLINK_V0;
	g->res_id = htons((uint16_t)resource);
	return h;
}

/* Read the reply: messages for `each`, then how it ended, as errno has it. */
static int conclude(struct kernset *s, mnl_cb_t each)
{
	char room[ROOM] __attribute__((aligned(8)));
	unsigned port = mnl_socket_get_portid(s->socket);
	ssize_t len;
	int more;

	do {
		len = mnl_socket_recvfrom(s->socket, room, sizeof room);
		if (len < 0)
			return errno;
		more = mnl_cb_run(room, (size_t)len, s->sequence, port, each, s);
		if (more < 0 && errno != ESRCH && errno != EPROTO) /* of another message, which was not waited for */
			return errno;
	} while (more != MNL_CB_STOP);
	return 0;
}

static int converse(struct kernset *s, const void *messages, size_t len, mnl_cb_t each)
{
	if (mnl_socket_sendto(s->socket, messages, len) < 0)
		return errno;
	return conclude(s, each);
}

/* ---- ipset ---- */

static int add_to_ipset(struct kernset *s, const struct addr *a)
{
	char room[ROOM] __attribute__((aligned(8)));
	bool v4 = a->family == 4;
	struct nlattr *data, *ip;
	struct nlmsghdr *h;

	s->sequence++;
	h = begin(s, room, NFNL_SUBSYS_IPSET << 8 | IPSET_CMD_ADD, NLM_F_ACK, v4 ? AF_INET : AF_INET6, 0);
	mnl_attr_put_u8(h, IPSET_ATTR_PROTOCOL, 6);
	mnl_attr_put_strz(h, IPSET_ATTR_SETNAME, s->name.set);
	data = mnl_attr_nest_start(h, IPSET_ATTR_DATA);
	ip = mnl_attr_nest_start(h, IPSET_ATTR_IP);
	mnl_attr_put(h, (uint16_t)((v4 ? IPSET_ATTR_IPADDR_IPV4 : IPSET_ATTR_IPADDR_IPV6) | NLA_F_NET_BYTEORDER),
		     v4 ? 4 : 16, a->ip);
	mnl_attr_nest_end(h, ip);
	mnl_attr_nest_end(h, data);
	return converse(s, room, h->nlmsg_len, NULL);
}

static const char *words_of_ipset(int error)
{
	return error == ENOENT			   ? "there is no such ipset"
	       : error == IPSET_ERR_HASH_FULL	   ? "the set is full"
	       : error == IPSET_ERR_INVALID_FAMILY ? "the set is for the other family of addresses"
	       : error >= IPSET_ERR_PRIVATE	   ? "the set does not take single addresses"
						   : NULL;
}

/* ---- nftables ---- */

static int take_trait(const struct nlattr *attr, void *arg)
{
	struct kernset *s = arg;
	uint32_t flags;

	if (mnl_attr_get_type(attr) != NFTA_SET_FLAGS || mnl_attr_get_payload_len(attr) != sizeof flags)
		return MNL_CB_OK;
	flags = ntohl(mnl_attr_get_u32(attr));
	s->has_ranges = flags & NFT_SET_INTERVAL;
	s->has_timeouts = flags & NFT_SET_TIMEOUT;
	return MNL_CB_OK;
}

static int take_traits(const struct nlmsghdr *h, void *arg)
{
	return mnl_attr_parse(h, sizeof(struct nfgenmsg), take_trait, arg);
}

static int learn_traits(struct kernset *s)
{
	char room[ROOM] __attribute__((aligned(8)));
	struct nlmsghdr *h;
	int error;

	s->sequence++;
	h = begin(s, room, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETSET, NLM_F_ACK, s->name.family, 0);
	s->has_ranges = s->has_timeouts = false;
	mnl_attr_put_strz(h, NFTA_SET_TABLE, s->name.table);
	mnl_attr_put_strz(h, NFTA_SET_NAME, s->name.set);
	error = converse(s, room, h->nlmsg_len, take_traits);
	s->known = error == 0;
	return error;
}

static void put_element(struct nlmsghdr *h, const uint8_t *ip, size_t len, uint32_t flags)
{
	struct nlattr *element = mnl_attr_nest_start(h, NFTA_LIST_ELEM), *key;

	key = mnl_attr_nest_start(h, NFTA_SET_ELEM_KEY);
	mnl_attr_put(h, NFTA_DATA_VALUE, len, ip);
	mnl_attr_nest_end(h, key);
	if (flags)
		mnl_attr_put_u32(h, NFTA_SET_ELEM_FLAGS, htonl(flags));
	mnl_attr_nest_end(h, element);
}

/* The address after this one. False: there is none. */
static bool succeed(uint8_t *ip, size_t len)
{
	while (len-- && ++ip[len] == 0)
		;
	return len != SIZE_MAX;
}

static char *put_change(struct kernset *s, char *at, int kind, int flags, const struct addr *a)
{
	struct nlmsghdr *h = begin(s, at, NFNL_SUBSYS_NFTABLES << 8 | kind, flags, s->name.family, 0);
	size_t len = a->family == 4 ? 4 : 16;
	struct nlattr *elements;
	uint8_t end[16];

	memcpy(end, a->ip, sizeof end);
	mnl_attr_put_strz(h, NFTA_SET_ELEM_LIST_TABLE, s->name.table);
	mnl_attr_put_strz(h, NFTA_SET_ELEM_LIST_SET, s->name.set);
	elements = mnl_attr_nest_start(h, NFTA_SET_ELEM_LIST_ELEMENTS);
	put_element(h, a->ip, len, 0);
	if (s->has_ranges && succeed(end, len))
		put_element(h, end, len, NFT_SET_ELEM_INTERVAL_END);
	mnl_attr_nest_end(h, elements);
	return mnl_nlmsg_get_payload_tail(h);
}

/* One transaction. An element that is there keeps its time when it is added again: where there are
 * timeouts it is taken out and put in, so that it cannot be missing to take out, nor for a moment. */
static int change_set(struct kernset *s, const struct addr *a)
{
	char room[ROOM] __attribute__((aligned(8))), *at = room;
	int error;

	s->sequence++;
	at = mnl_nlmsg_get_payload_tail(begin(s, at, NFNL_MSG_BATCH_BEGIN, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES));
	if (s->has_timeouts) {
		at = put_change(s, at, NFT_MSG_NEWSETELEM, NLM_F_CREATE, a);
		at = put_change(s, at, NFT_MSG_DELSETELEM, 0, a);
	}
	at = put_change(s, at, NFT_MSG_NEWSETELEM, NLM_F_CREATE | NLM_F_ACK, a);
	at = mnl_nlmsg_get_payload_tail(begin(s, at, NFNL_MSG_BATCH_END, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES));
	error = converse(s, room, (size_t)(at - room), NULL);
	if (s->has_ranges && (error == EEXIST || error == ENOTEMPTY))
		return 0; /* a wider range of the set has it */
	return error;
}

/* Firewalls replace their tables: after an error, look at the set again. */
static int add_to_table(struct kernset *s, const struct addr *a)
{
	bool guessed = s->known;
	int error = s->known ? change_set(s, a) : learn_traits(s);

	if (error == 0 && guessed)
		return 0;
	if (guessed && (error = learn_traits(s)) != 0)
		return error;
	return error ? error : change_set(s, a);
}

static const char *words_of_table(int error)
{
	return error == ENOENT ? "there is no such set"
	       : error == EINVAL ? "the set is not one of addresses of this family"
	       : error == ENFILE ? "the set is full"
				 : NULL;
}

/* ---- the set ---- */

const char *kernset_lack(void)
{
	return NULL;
}

struct kernset *kernset_open(const char *name, struct fault *f)
{
	struct set_name n;
	struct mnl_socket *socket;
	struct kernset *s;

	if (!read_name(name, &n, f))
		return NULL;
	socket = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (!socket || mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0) {
		fault_set(f, "no socket to the kernel's packet filter: %s", strerror(errno));
		if (socket)
			mnl_socket_close(socket);
		return NULL;
	}
	s = mem_zero(sizeof *s);
	s->socket = socket;
	s->name = n;
	return s;
}

void kernset_close(struct kernset *s)
{
	if (!s)
		return;
	mnl_socket_close(s->socket);
	mem_free(s);
}

bool kernset_add(struct kernset *s, const struct addr *a, struct fault *f)
{
	bool is_ipset = s->name.family == SETS_OF_IPSET;
	const char *words;
	int error;

	error = is_ipset ? add_to_ipset(s, a) : add_to_table(s, a);
	if (error == 0)
		return true;
	words = is_ipset ? words_of_ipset(error) : words_of_table(error);
	fault_set(f, "%s", words ? words : strerror(error));
	return false;
}

#else

#ifdef __linux__
#define LACK "this program was built without libmnl"
#else
#define LACK "this program was built without pf's headers (net/pfvar.h)"
#endif

const char *kernset_lack(void)
{
	return LACK;
}

struct kernset *kernset_open(const char *name, struct fault *f)
{
	(void)name;
	fault_set(f, LACK);
	return NULL;
}

void kernset_close(struct kernset *s)
{
	(void)s;
}

bool kernset_add(struct kernset *s, const struct addr *a, struct fault *f)
{
	(void)s;
	(void)a;
	fault_set(f, LACK);
	return false;
}

#endif
