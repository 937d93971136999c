/* Texts sent with queries to certain servers (edns-client-string).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/forward/server_text.h"

#include <string.h>

#include "util/base/fault.h"
#include "util/conf/options.h"
#include "util/net/addr.h"

/* "NETBLOCK TEXT": the text may contain blanks. */
static bool read_one(struct netset *set, char *item, struct fault *f)
{
	char block[ADDR_TEXT + 4], *text = strchr(item, ' ');
	size_t len = text ? (size_t)(text - item) : 0;
	struct netblock b;

	if (len == 0 || len >= sizeof(block)) {
		fault_set(f, "edns-client-string: '%s' is not a netblock and a text", item);
		return false;
	}
	memcpy(block, item, len);
	block[len] = '\0';
	text++;
	if (strlen(text) > SERVER_TEXT_MAX) {
		fault_set(f, "edns-client-string: the text for %s is longer than %d bytes", block,
			  SERVER_TEXT_MAX);
		return false;
	}
	if (!netblock_parse(&b, block, f))
		return false;
	netset_put(set, &b, text);
	return true;
}

bool server_texts_read(struct netset **to, const struct conf *conf, struct fault *f)
{
	const struct conf_list *list = &conf->server.edns_client_string;

	*to = NULL;
	if (list->count)
		*to = netset_new();
	for (size_t i = 0; i < list->count; i++) {
		if (!read_one(*to, list->items[i].text, f))
			return false;
	}
	return true;
}

const char *server_text_find(const struct netset *texts, const struct addr *server)
{
	return texts ? netset_find(texts, server) : NULL;
}
