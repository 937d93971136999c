/* Texts sent with queries to certain servers (edns-client-string).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_FORWARD_SERVER_TEXT_H
#define SERVICES_FORWARD_SERVER_TEXT_H

#include "util/base/bytes.h"

struct addr;
struct conf;
struct fault;
struct netset;

#define SERVER_TEXT_MAX 255 /* bytes of one */

/* `*to` is NULL when there are none. The texts are borrowed from `conf`. */
bool server_texts_read(struct netset **to, const struct conf *conf, struct fault *f) MUST_USE;
const char *server_text_find(const struct netset *texts, const struct addr *server); /* or NULL */

#endif
