/* Fetching a file over HTTP or HTTPS, by libcurl.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/background/fetch.h"

#include "util/base/fault.h"

#ifdef HAVE_LIBCURL

#include <ctype.h>
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "services/answer/nat64.h"
#include "services/background/loader.h"
#include "util/base/mem.h"
#include "util/net/addr.h"

#define MOST_MS     300000
#define CONNECT_S   15
#define STALL_S     30 /* with less than STALL_BYTES a second */
#define STALL_BYTES 64L
#define REDIRECTS   5L

struct fetching {
	const struct fetch_how *how;
	struct fault *fault;
	CURL *curl;
	uint64_t taken;
	struct fetch_mark told; /* by this response */
	bool from_public;       /* the URL itself led to a public address */
};

/* ---- libcurl, which pulls in two dozen libraries: loaded only when a URL is configured ---- */

#undef curl_easy_setopt
#undef curl_easy_getinfo
#define CURL_CALLS(X)                                                    \
	X(curl_global_init) X(curl_easy_init) X(curl_easy_cleanup)       \
	X(curl_easy_perform) X(curl_easy_setopt) X(curl_easy_getinfo)    \
	X(curl_easy_strerror) X(curl_slist_append) X(curl_slist_free_all)

static struct {
	bool good;
	char why[256];
#define X(name) __typeof__(&name) name;
	CURL_CALLS(X)
#undef X
} lib;

static void load(void)
{
	void *at = dlopen(LIBCURL_SONAME, RTLD_NOW | RTLD_LOCAL);
	bool all = at != NULL;

#define X(name)                                                 \
	if (all) {                                              \
		void *call = dlsym(at, #name);                  \
		all = call != NULL;                             \
		memcpy(&lib.name, &call, sizeof(lib.name));     \
	}
	CURL_CALLS(X)
#undef X
	if (!all)
		snprintf(lib.why, sizeof(lib.why), "%s", dlerror());
	lib.good = all && lib.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

bool fetch_prepare(struct fault *f)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	if (!lib.good)
		fault_set(f, "libcurl cannot be used: %s", lib.why);
	return lib.good;
}

/* ---- callbacks ---- */

static size_t on_bytes(char *bytes, size_t one, size_t len, void *fetching)
{
	struct fetching *x = fetching;
	long status = 0;

	(void)one;
	lib.curl_easy_getinfo(x->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status != 200)
		return len; /* the body of an error or a redirection */
	x->taken += len;
	if (x->how->most_bytes && x->taken > x->how->most_bytes) {
		fault_set(x->fault, "it is longer than %" PRIu64 " bytes", x->how->most_bytes);
		return 0;
	}
	return x->how->take(x->how->arg, bytes, len) ? len : 0;
}

/* With the address behind one of NAT64's prefixes in the place of the one seen. */
static bool is_public(const struct fetch_how *how, const struct addr *a)
{
	for (size_t i = 0; i < COUNT(how->nat64); i++) {
		struct netblock prefix;
		struct addr ip4;

		if (how->nat64[i] && netblock_parse(&prefix, how->nat64[i], NULL) &&
		    nat64_extract(&prefix, a, &ip4))
			return addr_is_public(&ip4);
	}
	return addr_is_public(a);
}

/* Every connection is opened here, to an address that has been resolved already. */
static curl_socket_t on_open(void *fetching, curlsocktype purpose, struct curl_sockaddr *to)
{
	struct fetching *x = fetching;
	char text[ADDR_TEXT];
	struct addr a;
	long redirects = 0;

	(void)purpose;
	lib.curl_easy_getinfo(x->curl, CURLINFO_REDIRECT_COUNT, &redirects);
	if (!addr_from_sockaddr(&a, &to->addr, to->addrlen))
		return CURL_SOCKET_BAD;
	if (redirects == 0) {
		x->from_public |= is_public(x->how, &a);
	} else if (x->from_public && !is_public(x->how, &a)) {
		fault_set(x->fault, "a redirect to %s, which is not public, is not followed",
			  addr_print(&a, a.port, text));
		return CURL_SOCKET_BAD;
	}
	return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

static bool leads_down(struct fetching *x, const char *value, size_t len)
{
	const char *scheme = NULL;

	while (len && isspace((unsigned char)*value))
		value++, len--;
	lib.curl_easy_getinfo(x->curl, CURLINFO_SCHEME, &scheme);
	return scheme && strcasecmp(scheme, "https") == 0 && len > 5 &&
	       strncasecmp(value, "http:", 5) == 0;
}

/* Each response, redirections included, has headers of its own. */
static size_t on_header(char *line, size_t one, size_t len, void *fetching)
{
	static const char name[] = "etag:";
	struct fetching *x = fetching;
	size_t n = len;

	(void)one;
	if (len > 5 && strncasecmp(line, "HTTP/", 5) == 0)
		x->told = (struct fetch_mark){ 0 };
	if (len > 9 && strncasecmp(line, "location:", 9) == 0 && leads_down(x, line + 9, len - 9)) {
		fault_set(x->fault, "a redirect from https to http is not followed");
		return 0;
	}
	if (len < sizeof(name) || strncasecmp(line, name, sizeof(name) - 1) != 0)
		return len;
	line += sizeof(name) - 1;
	n -= sizeof(name) - 1;
	while (n && isspace((unsigned char)*line))
		line++, n--;
	while (n && isspace((unsigned char)line[n - 1]))
		n--;
	for (size_t i = 0; i < n; i++)
		if (!isprint((unsigned char)line[i]))
			return len;
	if (n < sizeof(x->told.etag)) {
		memcpy(x->told.etag, line, n);
		x->told.etag[n] = '\0';
	}
	return len;
}

static int on_progress(void *fetching, curl_off_t all, curl_off_t so_far, curl_off_t up_all,
		       curl_off_t up_so_far)
{
	const struct fetching *x = fetching;

	(void)all;
	(void)so_far;
	(void)up_all;
	(void)up_so_far;
	return x->how->loader && loader_is_ending(x->how->loader);
}

/* ---- one fetch ---- */

static void allow_schemes(CURL *c, const char *url)
{
	bool secure = strncasecmp(url, "https:", 6) == 0;
#if LIBCURL_VERSION_NUM >= 0x075500
	lib.curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	lib.curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
#else
	lib.curl_easy_setopt(c, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
	lib.curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS,
			 secure ? CURLPROTO_HTTPS : CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
}

static void set_options(struct fetching *x, char *why)
{
	const struct fetch_how *how = x->how;
	CURL *c = x->curl;

	lib.curl_easy_setopt(c, CURLOPT_URL, how->url);
	allow_schemes(c, how->url);
	lib.curl_easy_setopt(c, CURLOPT_ERRORBUFFER, why);
	lib.curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	lib.curl_easy_setopt(c, CURLOPT_USERAGENT, PACKAGE_NAME "/" PACKAGE_VERSION);
	lib.curl_easy_setopt(c, CURLOPT_ACCEPT_ENCODING, "");
	lib.curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L);
	lib.curl_easy_setopt(c, CURLOPT_MAXREDIRS, REDIRECTS);
	lib.curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
	lib.curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)(how->most_ms ? how->most_ms : MOST_MS));
	lib.curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, STALL_BYTES);
	lib.curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, (long)STALL_S);
	lib.curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_bytes);
	lib.curl_easy_setopt(c, CURLOPT_WRITEDATA, x);
	lib.curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
	lib.curl_easy_setopt(c, CURLOPT_HEADERDATA, x);
	lib.curl_easy_setopt(c, CURLOPT_OPENSOCKETFUNCTION, on_open);
	lib.curl_easy_setopt(c, CURLOPT_OPENSOCKETDATA, x);
	lib.curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	lib.curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
	lib.curl_easy_setopt(c, CURLOPT_XFERINFODATA, x);
	lib.curl_easy_setopt(c, CURLOPT_FILETIME, 1L);
	if (how->authorities && *how->authorities)
		lib.curl_easy_setopt(c, CURLOPT_CAINFO, how->authorities);
}

static struct curl_slist *set_conditions(CURL *c, const struct fetch_mark *mark)
{
	struct curl_slist *headers = NULL;

	if (*mark->etag) {
		char *line = mem_textf("If-None-Match: %s", mark->etag);

		headers = lib.curl_slist_append(NULL, line);
		mem_free(line);
		lib.curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
	}
	if (mark->modified_s) {
		lib.curl_easy_setopt(c, CURLOPT_TIMECONDITION, (long)CURL_TIMECOND_IFMODSINCE);
		lib.curl_easy_setopt(c, CURLOPT_TIMEVALUE_LARGE, (curl_off_t)mark->modified_s);
	}
	return headers;
}

static enum fetch_end end_of(struct fetching *x, CURLcode code, const char *why,
			    struct fetch_mark *mark)
{
	long status = 0;
	curl_off_t modified_s = -1;

	lib.curl_easy_getinfo(x->curl, CURLINFO_RESPONSE_CODE, &status);
	if (code != CURLE_OK) {
		fault_set(x->fault, "%s", *why ? why : lib.curl_easy_strerror(code));
		return FETCH_FAILED;
	}
	if (status == 304)
		return FETCH_SAME;
	if (status != 200) {
		fault_set(x->fault, "the server says %ld", status);
		return FETCH_FAILED;
	}
	lib.curl_easy_getinfo(x->curl, CURLINFO_FILETIME_T, &modified_s);
	*mark = x->told;
	mark->modified_s = modified_s > 0 ? (int64_t)modified_s : 0;
	return FETCH_NEW;
}

enum fetch_end fetch_url(const struct fetch_how *how, struct fetch_mark *mark, struct fault *f)
{
	struct fetching x = { .how = how, .fault = f };
	char why[CURL_ERROR_SIZE] = "";
	struct curl_slist *headers;
	enum fetch_end end;

	if (!fetch_prepare(f))
		return FETCH_FAILED;
	x.curl = lib.curl_easy_init();
	if (!x.curl) {
		fault_set(f, "libcurl does not start");
		return FETCH_FAILED;
	}
	set_options(&x, why);
	headers = set_conditions(x.curl, mark);
	end = end_of(&x, lib.curl_easy_perform(x.curl), why, mark);
	lib.curl_slist_free_all(headers);
	lib.curl_easy_cleanup(x.curl);
	return end;
}

#else

bool fetch_prepare(struct fault *f)
{
	fault_set(f, "this build has no libcurl, nothing can come from a URL");
	return false;
}

enum fetch_end fetch_url(const struct fetch_how *how, struct fetch_mark *mark, struct fault *f)
{
	(void)mark;
	(void)how;
	return fetch_prepare(f) ? FETCH_NEW : FETCH_FAILED;
}

#endif
