/* A miniature authority: certificates of all kinds, made when a test needs them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_TESTS_CA_H
#define UTIL_TESTS_CA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cmocka.h>

#include "util/base/base.h"

/* Files in one folder: ca.pem; other.pem, an authority nobody knows; and what ca_issue makes. */
struct ca {
	char folder[64];
	EVP_PKEY *key, *other_key;
	X509 *cert, *other_cert;
	unsigned files;
	char names[40][96];
};

static inline const char *ca_path(struct ca *ca, const char *name)
{
	static char path[4][160];
	static unsigned turn;
	char *to = path[turn++ % 4];

	snprintf(to, sizeof path[0], "%s/%s", ca->folder, name);
	return to;
}

static inline FILE *ca_create(struct ca *ca, const char *name)
{
	FILE *f = fopen(ca_path(ca, name), "w");
	bool known = false;

	assert_non_null(f);
	for (unsigned i = 0; i < ca->files; i++)
		known |= strcmp(ca->names[i], name) == 0;
	if (!known) {
		assert_true(ca->files < COUNT(ca->names));
		snprintf(ca->names[ca->files++], sizeof ca->names[0], "%s", name);
	}
	return f;
}

static inline void ca_extend(X509 *cert, int nid, const char *value)
{
	X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, NULL, nid, value);

	assert_non_null(e);
	assert_true(X509_add_ext(cert, e, -1));
	X509_EXTENSION_free(e);
}

static inline X509 *ca_certify(EVP_PKEY *key, const char *name, X509 *by, EVP_PKEY *by_key,
			       int from_days, int to_days)
{
	static long serial = 1;
	X509 *cert = X509_new();
	X509_NAME *subject = X509_NAME_new();

	X509_set_version(cert, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(cert), ++serial);
	X509_gmtime_adj(X509_getm_notBefore(cert), from_days * 86400L);
	X509_gmtime_adj(X509_getm_notAfter(cert), to_days * 86400L);
	X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1,
				   0);
	X509_set_subject_name(cert, subject);
	X509_set_issuer_name(cert, by ? X509_get_subject_name(by) : subject);
	X509_set_pubkey(cert, key);
	if (!by)
		ca_extend(cert, NID_basic_constraints, "critical,CA:TRUE");
	X509_NAME_free(subject);
	if (!by)
		assert_true(X509_sign(cert, by_key, EVP_sha256()));
	return cert;
}

/* NAME.pem and NAME.key, valid for `sans` ("DNS:a.test,IP:127.0.0.1") on these days from now. */
static inline void ca_issue(struct ca *ca, const char *name, const char *sans, bool by_other,
			    int from_days, int to_days)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *by = by_other ? ca->other_cert : ca->cert;
	EVP_PKEY *by_key = by_other ? ca->other_key : ca->key;
	X509 *cert = ca_certify(key, name, by, by_key, from_days, to_days);
	char file[96];
	FILE *f;

	ca_extend(cert, NID_subject_alt_name, sans);
	assert_true(X509_sign(cert, by_key, EVP_sha256()));
	snprintf(file, sizeof file, "%s.pem", name);
	f = ca_create(ca, file);
	PEM_write_X509(f, cert);
	fclose(f);
	snprintf(file, sizeof file, "%s.key", name);
	f = ca_create(ca, file);
	PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL);
	fclose(f);
	X509_free(cert);
	EVP_PKEY_free(key);
}

static inline void ca_begin(struct ca *ca)
{
	FILE *f;

	*ca = (struct ca){ .folder = "/tmp/test-ca-XXXXXX" };
	assert_non_null(mkdtemp(ca->folder));
	ca->key = EVP_EC_gen("P-256");
	ca->other_key = EVP_EC_gen("P-256");
	ca->cert = ca_certify(ca->key, "test authority", NULL, ca->key, -1, 30);
	ca->other_cert = ca_certify(ca->other_key, "other authority", NULL, ca->other_key, -1, 30);
	f = ca_create(ca, "ca.pem");
	PEM_write_X509(f, ca->cert);
	fclose(f);
	f = ca_create(ca, "other.pem");
	PEM_write_X509(f, ca->other_cert);
	fclose(f);
}

static inline void ca_end(struct ca *ca)
{
	for (unsigned i = 0; i < ca->files; i++)
		unlink(ca_path(ca, ca->names[i]));
	rmdir(ca->folder);
	X509_free(ca->cert);
	X509_free(ca->other_cert);
	EVP_PKEY_free(ca->key);
	EVP_PKEY_free(ca->other_key);
}

#endif
