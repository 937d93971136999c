/* A file from elsewhere over HTTP or HTTPS: the only door to libcurl.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It waits for the network, so it is called on the loader's thread (services/loader.h) and nowhere
 * else. What arrives is given on piece by piece and never held. Certificates are verified; a
 * redirection may not lead from https to http. Without libcurl (--without-libcurl) every fetch
 * fails and says so. */
#ifndef SERVICES_FETCH_H
#define SERVICES_FETCH_H

#include "util/base.h"

struct fault;
struct loader;

enum fetch_end {
	FETCH_NEW,    /* all of it was taken */
	FETCH_SAME,   /* the server says that it is as it was */
	FETCH_FAILED, /* the fault says why; what was taken is worth nothing */
};

#define FETCH_ETAG 128

struct fetch_how {
	const char *url;
	const char *authorities;     /* a PEM file to trust in place of the system's; NULL or "" */
	uint64_t most_bytes;         /* longer ones fail; 0: no limit */
	uint32_t most_s;             /* so do slower ones; 0: 300 */
	const struct loader *loader; /* which may end meanwhile; NULL: nobody's */
	/* The next piece. False: it is no good, break off (having set the fault). */
	bool (*take)(void *arg, const char *bytes, size_t len);
	void *arg;
};

/* What a server told of the file, to ask whether it has changed; zeroed before the first time. */
struct fetch_mark {
	char etag[FETCH_ETAG];
	int64_t modified_s; /* since 1970; 0: not told */
};

/* With a `mark` that is not empty the server is asked for it only if it has changed. The mark is
 * renewed by FETCH_NEW. */
enum fetch_end fetch_url(const struct fetch_how *how, struct fetch_mark *mark, struct fault *f)
	MUST_USE;

/* Load libcurl, which is not before somebody wants it: at the start, since a chroot may hide it.
 * False: there is none, and every fetch will fail. */
bool fetch_prepare(struct fault *f);

#endif
