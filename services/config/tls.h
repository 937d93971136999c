/* Builds the TLS contexts from the configuration.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_CONFIG_TLS_H
#define SERVICES_CONFIG_TLS_H

#include "util/base/base.h"

struct conf;
struct fault;
struct forwards;
struct snapshot;
struct tls_client;
struct tls_server;

/* Create `tls_client` and `tls_server` of a snapshot under construction. Files that will be needed
 * are read now, while that is permitted. False with a sentence in `f`. */
bool tls_conf_read(struct snapshot *s, const struct forwards *forwards, struct fault *f) MUST_USE;

/* Before a snapshot with other forwards is published: authorities that these need are read now, not by the worker that asks
 * first. The log says what is wrong with them; such forwards then fail. */
void tls_conf_prepare(struct snapshot *s);

/* Read again what has changed on disk; the log says so. Open connections go on. Also renews the keys of session tickets
 * (`now_s`: monotonic). */
void tls_conf_refresh(const struct snapshot *s, uint64_t now_s);

/* The control channel: whether it uses TLS, and its two ends, from the four files. NULL with a
 * sentence in `f`. */
bool tls_conf_control(const struct conf *conf);
struct tls_server *tls_conf_control_server(const struct conf *conf, struct fault *f) MUST_USE;
struct tls_client *tls_conf_control_client(const struct conf *conf, struct fault *f) MUST_USE;

#endif
