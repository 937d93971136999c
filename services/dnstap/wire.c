/* A connection to a collector, speaking Frame Streams: the only user of libfstrm.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/dnstap/wire.h"

#include <errno.h>
#include <fstrm.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "services/net/dial.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/net/stream.h"
#include "util/net/tls.h"

#define CONTENT "protobuf:dnstap.Dnstap"

enum {
	GREETING_MS = 5000, /* each for connecting, the TLS handshake and the greeting */
	TAKING_MS = 30000,  /* until a collector that reads nothing is given up */
	FAREWELL_MS = 1000,
	GATHER = 65536, /* bytes per system call */
};

struct dnstap_wire {
	const struct dnstap_place *place;
	const struct dnstap_how *how;
	struct stream stream;
	struct fstrm_writer *writer;
	struct fault *fault; /* while it is being opened */
	uint32_t patience_ms;
	bool broken;
	size_t gathered;
	uint8_t gather[GATHER];
};

/* ---- bytes ---- */

static bool wait_for(struct dnstap_wire *w, short events)
{
	return w->how->wait(w->how->arg, w->stream.fd, events, w->patience_ms);
}

/* False: failed; errno says why, or is 0 when the wait was over. */
static bool wait_again(struct dnstap_wire *w, short events)
{
	if (!stream_is_not_now(errno))
		return false;
	if (wait_for(w, stream_wants_write(&w->stream) ? POLLOUT : events))
		return true;
	errno = 0;
	return false;
}

static bool write_all(struct dnstap_wire *w, const uint8_t *at, size_t len)
{
	while (len) {
		ssize_t n = stream_write(&w->stream, at, len);

		if (n > 0) {
			at += n;
			len -= (size_t)n;
		} else if (n == 0 || !wait_again(w, POLLOUT)) {
			return false;
		}
	}
	return true;
}

static bool flush(struct dnstap_wire *w)
{
	size_t len = w->gathered;

	w->gathered = 0;
	return write_all(w, w->gather, len);
}

static bool put(struct dnstap_wire *w, const uint8_t *at, size_t len)
{
	if (w->gathered + len > GATHER && !flush(w))
		return false;
	if (len > GATHER)
		return write_all(w, at, len);
	memcpy(w->gather + w->gathered, at, len);
	w->gathered += len;
	return true;
}

/* ---- connecting ---- */

static void complain(struct dnstap_wire *w, const char *why)
{
	if (w->fault)
		fault_set(w->fault, "%s", why);
}

static bool dial_socket(struct dnstap_wire *w)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	if (strlen(w->place->socket) >= sizeof at.sun_path) {
		errno = ENAMETOOLONG;
		return false;
	}
	strcpy(at.sun_path, w->place->socket);
	w->stream.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	return w->stream.fd >= 0 && connect(w->stream.fd, (struct sockaddr *)&at, sizeof at) == 0;
}

static bool dial_address(struct dnstap_wire *w)
{
	struct sockaddr_storage at;
	socklen_t len = addr_to_sockaddr(&w->place->addr, &at);

	if (!w->place->addr.family) {
		errno = EADDRNOTAVAIL;
		return false;
	}
	w->stream.fd = socket(at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (w->stream.fd < 0)
		return false;
	if (connect(w->stream.fd, (struct sockaddr *)&at, len) == 0)
		return true;
	if (errno != EINPROGRESS)
		return false;
	if (wait_for(w, POLLOUT))
		return dial_is_through(w->stream.fd);
	errno = ETIMEDOUT;
	return false;
}

static bool begin_tls(struct dnstap_wire *w)
{
	struct tls_call call = { .fd = w->stream.fd,
				 .place = w->place->text,
				 .name = w->place->tls_name,
				 .must_verify = w->place->must_verify };
	struct fault f = { 0 };

	w->stream.tls = tls_connect(w->place->tls, &call, &f);
	if (!w->stream.tls) {
		complain(w, f.text);
		return false;
	}
	while (tls_shake(w->stream.tls) < 0) {
		if (wait_again(w, POLLIN))
			continue;
		complain(w, errno ? tls_why(w->stream.tls) : "no TLS handshake in time");
		return false;
	}
	return true;
}

/* ---- callbacks of libfstrm ---- */

static fstrm_res on_open(void *arg)
{
	struct dnstap_wire *w = arg;

	if (!(w->place->socket ? dial_socket(w) : dial_address(w))) {
		complain(w, strerror(errno));
		return fstrm_res_failure;
	}
	if (w->place->tls && !begin_tls(w))
		return fstrm_res_failure;
	return fstrm_res_success;
}

static fstrm_res on_close(void *arg)
{
	struct dnstap_wire *w = arg;

	stream_close(&w->stream);
	return fstrm_res_success;
}

static fstrm_res on_read(void *arg, void *to, size_t len)
{
	struct dnstap_wire *w = arg;
	uint8_t *at = to;

	if (w->broken)
		return fstrm_res_failure;
	while (len) {
		ssize_t n = stream_read(&w->stream, at, len);

		if (n == 0)
			return fstrm_res_stop;
		if (n > 0) {
			at += n;
			len -= (size_t)n;
		} else if (!wait_again(w, POLLIN)) {
			return fstrm_res_failure;
		}
	}
	return fstrm_res_success;
}

static fstrm_res on_write(void *arg, const struct iovec *parts, int count)
{
	struct dnstap_wire *w = arg;

	for (int i = 0; i < count && !w->broken; i++)
		w->broken = !put(w, parts[i].iov_base, parts[i].iov_len);
	w->broken = w->broken || !flush(w);
	return w->broken ? fstrm_res_failure : fstrm_res_success;
}

/* ---- called by the dnstap thread ---- */

static struct fstrm_writer *writer_new(struct dnstap_wire *w)
{
	struct fstrm_writer_options *options = fstrm_writer_options_init();
	struct fstrm_rdwr *io = fstrm_rdwr_init(w);
	struct fstrm_writer *writer;

	PROMISE(options && io);
	fstrm_rdwr_set_open(io, on_open);
	fstrm_rdwr_set_close(io, on_close);
	fstrm_rdwr_set_write(io, on_write);
	if (w->place->bidirectional) /* the handshake's replies are awaited */
		fstrm_rdwr_set_read(io, on_read);
	(void)fstrm_writer_options_add_content_type(options, CONTENT, sizeof CONTENT - 1);
	writer = fstrm_writer_init(options, &io);
	PROMISE(writer);
	fstrm_writer_options_destroy(&options);
	return writer;
}

struct dnstap_wire *dnstap_wire_open(const struct dnstap_place *place, const struct dnstap_how *how,
				     struct fault *f)
{
	struct dnstap_wire *w = mem_new(sizeof *w);

	memset(w, 0, offsetof(struct dnstap_wire, gather));
	w->place = place;
	w->how = how;
	w->stream.fd = -1;
	w->fault = f;
	w->patience_ms = GREETING_MS;
	w->writer = writer_new(w);
	if (fstrm_writer_open(w->writer) == fstrm_res_success) {
		w->fault = NULL;
		w->patience_ms = TAKING_MS;
		return w;
	}
	complain(w, "it does not greet as a collector of dnstap does");
	w->broken = true;
	w->fault = NULL;
	dnstap_wire_close(w);
	return NULL;
}

bool dnstap_wire_write(struct dnstap_wire *w, const struct slice *frames, unsigned count)
{
	struct iovec parts[DNSTAP_FRAMES];

	for (unsigned i = 0; i < count; i++)
		parts[i] = (struct iovec){ (void *)(uintptr_t)frames[i].at, frames[i].len };
	return fstrm_writer_writev(w->writer, parts, (int)count) == fstrm_res_success;
}

int dnstap_wire_fd(const struct dnstap_wire *w)
{
	return w->stream.fd;
}

/* A collector sends nothing but the end of the stream. */
bool dnstap_wire_is_alive(struct dnstap_wire *w)
{
	uint8_t byte;
	ssize_t n = stream_read(&w->stream, &byte, 1);

	w->broken = w->broken || n >= 0 || !stream_is_not_now(errno);
	return !w->broken;
}

void dnstap_wire_close(struct dnstap_wire *w)
{
	w->patience_ms = FAREWELL_MS;
	(void)fstrm_writer_destroy(&w->writer);
	stream_close(&w->stream);
	mem_free(w);
}
