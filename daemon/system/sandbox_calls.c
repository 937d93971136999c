/* The sandbox around system calls: the list in sandbox.def as a kernel filter (libseccomp).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/system/sandbox_private.h"
#include "util/base/log.h"
#include "util/base/mem.h"

#ifdef HAVE_LIBSECCOMP

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/sockios.h>
#include <seccomp.h>

#if defined(__s390__) || defined(__s390x__)
#define CLONE_FLAGS_AT 1
#define MMAP_TAKES_A_STRUCT
#else
#define CLONE_FLAGS_AT 0
#endif
#if defined(__i386__)
#define MMAP_TAKES_A_STRUCT /* old mmap; libraries call mmap2 */
#endif
#if defined(__powerpc__) /* where the header makes it from the size of a struct that libc has otherwise */
#undef TCGETS
#define TCGETS 0x402c7413
#endif
#define PR_SET_VMA_NAMES 0x53564d41 /* PR_SET_VMA, missing from older headers */
/* TCGETS2, by which glibc 2.42 sees whether something is a terminal: its struct is in no header that goes with libc's */
#if defined(__mips__)
#define TCGETS_NEW 0x4030542a
#else
#define TCGETS_NEW 0x802c542a
#endif

enum kind { CALL, NEVER, NOT_THERE, ONLY, OURS };

static const struct row {
	const char *name;
	enum kind kind;
	unsigned argument;
	uint32_t mask, value;
} rows[] = {
#define CALL(name)      { #name, CALL, 0, 0, 0 },
#define NEVER(name)     { #name, NEVER, 0, 0, 0 },
#define NOT_THERE(name) { #name, NOT_THERE, 0, 0, 0 },
#define ONLY(name, argument, mask, value) { #name, ONLY, argument, (uint32_t)(mask), (uint32_t)(value) },
#define OURS(name)      { #name, OURS, 0, UINT32_MAX, 0 },
#include "daemon/system/sandbox.def"
#undef CALL
#undef NEVER
#undef NOT_THERE
#undef ONLY
#undef OURS
};

/* ---- strict: naming the refused call ---- */

/* Async-signal-safe functions only: the refused call may have come from within malloc. */
static void on_refused(int number, siginfo_t *info, void *context)
{
	static const char text[] = "sandbox: the process ends at a system call that is not in the list: ";
	char digits[16], *at = digits + sizeof digits;
	unsigned call = (unsigned)info->si_syscall;
	ssize_t said;

	(void)number, (void)context;
	*--at = '\n';
	do
		*--at = (char)('0' + call % 10);
	while (call /= 10);
	said = write(STDERR_FILENO, text, sizeof text - 1);
	said += write(STDERR_FILENO, at, (size_t)(digits + sizeof digits - at));
	(void)said;
	_exit(128 + SIGSYS);
}

static void watch_refusals(void)
{
	struct sigaction act = { .sa_flags = SA_SIGINFO };

	act.sa_sigaction = on_refused;
	(void)sigaction(SIGSYS, &act, NULL);
}

/* ---- the filter ---- */

static int add_row(scmp_filter_ctx filter, const struct row *r, bool strict)
{
	int call = seccomp_syscall_resolve_name(r->name);
	struct scmp_arg_cmp only = { .arg = r->argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = r->mask,
				     .datum_b = r->value };

	if (call == __NR_SCMP_ERROR)
		return 0;
	switch (r->kind) {
	case CALL:
		return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
	case NEVER:
		return seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, call, 0);
	case NOT_THERE: /* the default unless strict */
		return strict ? seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), call, 0) : 0;
	case OURS:
		only.datum_b = (uint32_t)getpid();
		break;
	case ONLY:
		break;
	}
	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &only);
}

/* Failures are ignored: all but the first only affect speed and what the kernel logs. */
static void tune(scmp_filter_ctx filter)
{
	/* Cover threads that libraries may have started. */
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
#if SCMP_VER_MAJOR > 2 || SCMP_VER_MINOR >= 5
	/* No untrusted code runs here: the Speculative Store Bypass mitigation would only cost. */
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
#endif
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_LOG, 1);
}

void sandbox_calls(bool strict)
{
	scmp_filter_ctx filter = seccomp_init(strict ? SCMP_ACT_TRAP : SCMP_ACT_ERRNO(ENOSYS));
	int error = filter ? 0 : -ENOMEM;

	if (filter)
		tune(filter);
	for (size_t i = 0; !error && i < COUNT(rows); i++) {
		error = add_row(filter, &rows[i], strict);
		if (error)
			log_detail("sandbox: cannot add a rule for the system call %s: %s", rows[i].name, strerror(-error));
		if (error == -EDOM || error == -EINVAL)
			error = 0; /* no such call on this architecture */
	}
	if (strict)
		watch_refusals();
	if (!error)
		error = seccomp_load(filter);
	if (error)
		log_notice("sandbox: system calls are not limited: this system has no seccomp filters (%s)",
			   strerror(-error));
	if (filter)
		seccomp_release(filter);
	mem_trim(); /* building the filter took more memory than the filter */
}

#else

void sandbox_calls(bool strict)
{
	(void)strict;
	log_notice("sandbox: system calls are not limited: built without libseccomp");
}

#endif
