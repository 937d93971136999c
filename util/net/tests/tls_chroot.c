/* Claims about the files that TLS is made of: where they are looked for, and what serves when a chroot hides them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/tests/tls_pair.h"

#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static struct tls_server *server_in_chroot(const char *outside, const char *inside, struct fault *f)
{
	char key[2][200], pem[2][200];

	snprintf(key[0], sizeof key[0], "%s/%s.key", ca.folder, outside);
	snprintf(pem[0], sizeof pem[0], "%s/%s.pem", ca.folder, outside);
	snprintf(key[1], sizeof key[1], "%s/%s.key", ca.folder, inside);
	snprintf(pem[1], sizeof pem[1], "%s/%s.pem", ca.folder, inside);
	return tls_server_new(&(struct tls_server_how){ .key = { key[0], key[1] }, .pem = { pem[0], pem[1] } }, f);
}

static void a_file_is_looked_for_at_both_places(void **state)
{
	struct fault f = { 0 };
	struct tls_server *s;

	(void)state;
	/* the first comes first */
	s = server_in_chroot("good", "stranger", &f);
	assert_non_null(s);
	assert_true(is_met(s));
	assert_false(tls_server_refresh(s, &f));
	tls_server_unpin(s);
	s = server_in_chroot("none", "good", &f);
	assert_non_null(s);
	assert_true(is_met(s));
	assert_false(tls_server_refresh(s, &f));
	/* and still does when it comes later */
	copy("stranger.key", "late.key");
	copy("stranger.pem", "late.pem");
	tls_server_unpin(s);
	s = server_in_chroot("later", "late", &f);
	assert_false(is_met(s));
	copy("good.key", "later.key");
	copy("good.pem", "later.pem");
	assert_true(tls_server_refresh(s, &f));
	assert_true(is_met(s));
	tls_server_unpin(s);
	assert_null(server_in_chroot("none", "nowhere", &f));
	assert_non_null(strstr(f.text, "/none.pem: No such file"));
}

/* Once the process is in its chroot, what it read before it was there is used, but for nothing else than that. */
static void what_a_chroot_hides_was_kept(void **state)
{
	struct fault f = { 0 };
	struct tls_server *s;
	struct tls_client *c;
	char kept[200];

	(void)state;
	copy("good.key", "kept.key");
	copy("good.pem", "kept.pem");
	copy("ca.pem", "kept-ca.pem");
	s = server_in_chroot("none", "kept", &f);
	assert_non_null(s);
	snprintf(kept, sizeof kept, "%s", path_of("kept-ca.pem"));
	c = tls_client_new(&(struct tls_client_how){ .bundle = { path_of("none.pem"), kept } }, &f);
	assert_true(tls_client_load(c, &f));
	assert_true(do_meet(c, s, "dns.test"));
	tls_client_unpin(c);
	tls_server_unpin(s);

	assert_int_equal(unlink(path_of("kept.key")) | unlink(path_of("kept.pem")) | unlink(path_of("kept-ca.pem")), 0);
	s = server_in_chroot("none", "kept", &f);
	assert_non_null(s);
	assert_true(is_met(s));
	assert_false(tls_server_refresh(s, &f));
	c = tls_client_new(&(struct tls_client_how){ .bundle = { path_of("none.pem"), kept } }, &f);
	assert_true(tls_client_load(c, &f));
	assert_true(do_meet(c, s, "dns.test"));
	assert_false(do_meet(c, s, "other.test"));
	assert_false(tls_client_refresh(c, &f));
	assert_false(f.set);
	tls_client_unpin(c);
	tls_server_unpin(s);
	/* authorities are no keys, nor the other way round */
	c = tls_client_new(&(struct tls_client_how){ .bundle = { path_of("none.pem"), path_of("kept.pem") } }, &f);
	assert_false(tls_client_load(c, &f));
	tls_client_unpin(c);
	assert_null(server_in_chroot("none", "kept-ca", &f));
	/* what is there, but cannot be used, is not replaced by what was kept */
	copy("good.key", "kept.pem");
	f = (struct fault){ 0 };
	assert_null(server_in_chroot("none", "kept", &f));
	assert_non_null(strstr(f.text, "tls-service-pem"));
	assert_int_equal(unlink(path_of("kept.pem")), 0);
}

/* Within a root where there is nothing. */
enum { BELIEVED, DOUBTED, NO_ROOT = 77 };

static int believed_in_chroot(struct tls_server *server)
{
	struct tls_client_how how = { .bundle.path = NULL };
	struct fault f = { 0 };
	struct tls_client *c;

	if (geteuid() != 0 && unshare(CLONE_NEWUSER) != 0)
		return NO_ROOT;
	if (mkdir(path_of("root"), 0700) != 0 || chroot(path_of("root")) != 0 || chdir("/") != 0)
		return NO_ROOT;
	c = tls_client_new(&how, &f);
	return tls_client_load(c, &f) && do_meet(c, server, "dns.test") ? BELIEVED : DOUBTED;
}

/* Those that the system trusts are out of sight after a chroot, too. */
static void what_a_chroot_hides_of_the_system_was_kept(void **state)
{
	static const struct {
		const char *cert;
		int code;
	} rows[] = { { "good", BELIEVED }, { "stranger", DOUBTED } };

	(void)state;
	setenv("SSL_CERT_FILE", path_of("ca.pem"), 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct tls_server *s = server_of(rows[i].cert, "");
		struct tls_client *c = client_of(NULL, "");
		struct fault f = { 0 };
		pid_t child;
		int code;

		assert_true(tls_client_load(c, &f));
		child = fork();
		if (child == 0)
			_exit(believed_in_chroot(s));
		assert_int_equal(waitpid(child, &code, 0), child);
		(void)rmdir(path_of("root"));
		assert_true(WIFEXITED(code));
		if (WEXITSTATUS(code) == NO_ROOT)
			print_message("no chroot to be had\n");
		else if (WEXITSTATUS(code) != rows[i].code)
			fail_msg("%s", rows[i].cert);
		tls_client_unpin(c);
		tls_server_unpin(s);
	}
	unsetenv("SSL_CERT_FILE");
}

static void a_bundle_may_hold_lists_of_what_is_revoked(void **state)
{
	X509_CRL *crl = X509_CRL_new();
	ASN1_TIME *now = ASN1_TIME_adj(NULL, time(NULL), 0, 0);
	struct tls_server *s = server_of("good", "");
	struct tls_client *c = client_of("revoked.pem", "");
	FILE *f;

	(void)state;
	X509_CRL_set_issuer_name(crl, X509_get_subject_name(ca.cert));
	X509_CRL_set1_lastUpdate(crl, now);
	X509_CRL_set1_nextUpdate(crl, now);
	assert_true(X509_CRL_sign(crl, ca.key, EVP_sha256()));
	copy("ca.pem", "revoked.pem");
	f = fopen(path_of("revoked.pem"), "a");
	PEM_write_X509_CRL(f, crl);
	fclose(f);
	X509_CRL_free(crl);
	ASN1_TIME_free(now);
	assert_true(do_meet(c, s, "dns.test"));
	tls_client_unpin(c);
	tls_server_unpin(s);
}

static int begin(void **state)
{
	(void)state;
	(void)signal(SIGPIPE, SIG_IGN);
	ca_begin(&ca);
	ca_issue(&ca, "good", "DNS:dns.test,IP:192.0.2.1", false, -1, 30);
	ca_issue(&ca, "stranger", "DNS:dns.test", true, -1, 30);
	return 0;
}

static int end(void **state)
{
	(void)state;
	ca_end(&ca);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_looked_for_at_both_places),
		cmocka_unit_test(what_a_chroot_hides_was_kept),
		cmocka_unit_test(what_a_chroot_hides_of_the_system_was_kept),
		cmocka_unit_test(a_bundle_may_hold_lists_of_what_is_revoked),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
