/* Fetches a file over HTTP or HTTPS: the only user of libcurl.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It blocks on the network, so it is called on the loader's thread (services/background/loader.h) only. Data
 * is passed on piece by piece and not buffered. Certificates are verified; no redirect may lead
 * from https to http, nor from a public address (util/net/addr.h) to one that is not: what counts are the
 * addresses that are connected to, whatever names stand for them. Without libcurl
 * (--without-libcurl) every fetch fails and says so. */
#ifndef SERVICES_BACKGROUND_FETCH_H
#define SERVICES_BACKGROUND_FETCH_H

#include "util/base/base.h"

struct fault;
struct loader;

enum fetch_end {
	FETCH_NEW,    /* all of it was received */
	FETCH_SAME,   /* the server says it is unchanged */
	FETCH_FAILED, /* the fault says why; discard what was received */
};

#define FETCH_ETAG 128

struct fetch_how {
	const char *url;
	const char *authorities;     /* a PEM file of CAs in place of the system's; or NULL or "" */
	uint64_t most_bytes;         /* longer files fail; 0: no limit */
	uint32_t most_ms;            /* time limit; 0: 300 seconds */
	const char *nat64[2];        /* prefixes behind which IPv4 addresses are (RFC 6052); or NULL */
	const struct loader *loader; /* aborts when it ends; NULL: none */
	/* Takes the next piece. False: abort (having set the fault). */
	bool (*take)(void *arg, const char *bytes, size_t len);
	void *arg;
};

/* Validators of the file for conditional requests; zeroed before first use. */
struct fetch_mark {
	char etag[FETCH_ETAG];
	int64_t modified_s; /* since 1970; 0: unknown */
};

/* If `mark` is not empty the request is conditional: only if the file has changed. FETCH_NEW
 * updates the mark. */
enum fetch_end fetch_url(const struct fetch_how *how, struct fetch_mark *mark, struct fault *f)
	MUST_USE;

/* Load libcurl, which is done only on demand; call it at startup, since a chroot may hide it.
 * False: not available, and every fetch will fail. */
bool fetch_prepare(struct fault *f);

#endif
