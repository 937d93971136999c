/* Plays worlds: one of a seed, or ever new ones for a time, in processes of their own so that a crash is a finding.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "testdata/hostile/keys.h"
#include "testdata/hostile/play.h"
#include "testdata/hostile/script.h"
#include "testdata/hostile/shrink.h"
#include "testdata/hostile/trace.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"

enum {
	JOBS_MOST = 64,
	BATCH = 2000,	   /* worlds of a process */
	WARM = 200,	   /* after so many it should not grow any more … */
	GROWTH = 1 << 20,  /* … by this */
	CHOICES_MOST = 16384,
	STUCK_S = 60,	   /* a world that has not ended by then */
};

static const char usage_text[] =
	"usage: hostile [OPTION...]\n"
	"  --seconds N     play ever new worlds for so long (default 10)\n"
	"  --worlds N      or so many\n"
	"  --seed N        begin with this one (default: drawn, and printed)\n"
	"  --jobs N        in so many processes (default 1)\n"
	"  --world SEED    play this one alone; with -v tell what happens\n"
	"  --shrink        and leave out of it what it fails without\n"
	"  --choices FILE  play what was left (--keep wrote it)\n"
	"  --keep FILE     write the choices there\n"
	"  --scenario FILE write it down as a draft of a scenario for testdata/replay, with true signatures\n"
	"  --alone         without the adversary\n"
	"  --true          with true signatures\n"
	"  --tally FILE    add a line: date, commit (--commit ID), CPU seconds, worlds, findings\n"
	"Exit code 1: something was found. Each finding is printed with its seed.\n";

static struct options {
	uint64_t seconds, worlds, seed, world;
	unsigned jobs;
	bool one, alone, verbose, shrinks;
	const char *tally, *commit, *choices, *keep, *scenario;
} how = { .seconds = 10, .jobs = 1, .commit = "-" };

/* What a process tells its parent, in memory they share. */
static struct progress {
	uint64_t seed; /* of the world that is being played */
	uint64_t next; /* to be played */
	uint64_t worlds, cpu_us, asks, packets, findings;
} *progress;

static uint64_t deadline_s;

static uint64_t seconds_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec;
}

static void finding(uint64_t seed, const char *why)
{
	printf("world %" PRIu64 ": %s\n", seed, why);
	fflush(stdout);
}

static bool is_over(const struct progress *p)
{
	return how.worlds ? p->next >= how.seed + how.worlds : seconds_now() >= deadline_s;
}

static bool play_seed(uint64_t seed, struct trace *trace, struct play_report *r)
{
	struct choices c;

	choices_draw(&c, seed);
	play_world(&c, how.alone, trace, r);
	choices_clear(&c);
	return !r->failed;
}

/* Plays every `jobs`th world until the time is over, or for a batch. */
static void work(struct progress *p)
{
	size_t before = 0;

	for (unsigned i = 0; i < BATCH && !is_over(p); i++) {
		struct play_report r;

		p->seed = p->next;
		p->next += how.jobs;
		alarm(STUCK_S);
		if (!play_seed(p->seed, NULL, &r)) {
			p->findings++;
			finding(p->seed, r.why);
		}
		alarm(0);
		p->worlds++;
		p->cpu_us += r.cpu_us;
		p->asks += r.asks;
		p->packets += r.packets;
		if (i == WARM)
			before = mem_in_use();
	}
	if (before && mem_in_use() > before + GROWTH) {
		p->findings++;
		printf("worlds up to %" PRIu64 ": %zu bytes more in use than before\n", p->seed,
		       mem_in_use() - before);
		fflush(stdout);
	}
}

static pid_t start(struct progress *p)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	play_begin_once();
	work(p);
	fflush(stdout);
	_exit(0);
}

static void note_end(struct progress *p, int status)
{
	char why[80];

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return;
	if (WIFSIGNALED(status))
		snprintf(why, sizeof(why), "%s (signal %d)",
			 WTERMSIG(status) == SIGALRM ? "it does not end" : "it crashes", WTERMSIG(status));
	else
		snprintf(why, sizeof(why), "it ends with code %d", WEXITSTATUS(status));
	p->findings++;
	p->worlds++;
	finding(p->seed, why);
}

static void play_many(void)
{
	pid_t pids[JOBS_MOST];
	unsigned running = 0;

	for (unsigned i = 0; i < how.jobs; i++) {
		progress[i].next = how.seed + i;
		pids[i] = start(&progress[i]);
		running += pids[i] > 0;
	}
	while (running) {
		int status;
		pid_t pid = wait(&status);

		if (pid < 0 && errno != EINTR)
			break;
		for (unsigned i = 0; pid > 0 && i < how.jobs; i++) {
			if (pids[i] != pid)
				continue;
			note_end(&progress[i], status);
			running--;
			pids[i] = is_over(&progress[i]) ? 0 : start(&progress[i]);
			running += pids[i] > 0;
		}
	}
}

static void write_tally(const struct progress *sum)
{
	FILE *out = fopen(how.tally, "a");
	time_t now = time(NULL);
	char date[32];

	if (!out) {
		fprintf(stderr, "cannot write %s: %s\n", how.tally, strerror(errno));
		return;
	}
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%MZ", gmtime(&now));
	fprintf(out, "%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", date, how.commit,
		sum->cpu_us / US_PER_S, sum->worlds, sum->findings);
	fclose(out);
}

static int sum_up(void)
{
	struct progress sum = { 0 };

	for (unsigned i = 0; i < how.jobs; i++) {
		sum.worlds += progress[i].worlds;
		sum.cpu_us += progress[i].cpu_us;
		sum.asks += progress[i].asks;
		sum.packets += progress[i].packets;
		sum.findings += progress[i].findings;
	}
	if (how.tally)
		write_tally(&sum);
	printf("%" PRIu64 " worlds from seed %" PRIu64 " on: %" PRIu64 " findings; %.1f s of CPU time, %.0f worlds a "
	       "second of it, %.0f questions and %.0f packets each\n",
	       sum.worlds, how.seed, sum.findings, (double)sum.cpu_us / 1e6,
	       sum.cpu_us ? (double)sum.worlds * 1e6 / (double)sum.cpu_us : 0.0,
	       sum.worlds ? (double)sum.asks / (double)sum.worlds : 0.0,
	       sum.worlds ? (double)sum.packets / (double)sum.worlds : 0.0);
	return sum.findings > 0;
}

/* ---- one world ---- */

static void read_choices(struct choices *c)
{
	FILE *in = fopen(how.choices, "r");
	static char text[1 << 20];
	size_t len = in ? fread(text, 1, sizeof(text) - 1, in) : 0;

	text[len] = '\0';
	if (!in || !choices_parse(c, text)) {
		fprintf(stderr, "cannot read %s\n", how.choices);
		exit(2);
	}
	fclose(in);
}

static void write_choices(const struct choices *c)
{
	FILE *out = fopen(how.keep, "w");
	char *text = choices_print(c);

	if (!out || fputs(text, out) < 0 || fclose(out) != 0)
		fprintf(stderr, "cannot write %s\n", how.keep);
	mem_free(text);
}

/* Played again, to be written down. */
static void write_scenario(struct choices *c, const char *why)
{
	FILE *out = fopen(how.scenario, "w");
	struct play_report r;
	struct script s;

	if (!out) {
		fprintf(stderr, "cannot write %s\n", how.scenario);
		return;
	}
	keys_true = true;
	choices_rewind(c);
	script_begin(&s);
	play_world(c, how.alone, &s.trace, &r);
	script_write(&s, why, out);
	script_clear(&s);
	fclose(out);
}

static int play_one(void)
{
	struct play_report r;
	struct choices c;
	char why[800];
	bool fails;

	play_begin_once();
	if (how.choices) {
		read_choices(&c);
	} else {
		choices_draw(&c, how.world);
		choices_fill(&c, CHOICES_MOST);
	}
	if (how.shrinks && shrink_fails(&c, how.alone, "", why))
		shrink(&c, how.alone, why, (unsigned)how.seconds);
	if (how.verbose) {
		choices_rewind(&c);
		play_world(&c, how.alone, &trace_tell, &r);
	}
	fails = shrink_fails(&c, how.alone, "", why);
	if (how.keep)
		write_choices(&c);
	if (how.scenario)
		write_scenario(&c, fails ? why : "all is well");
	if (fails)
		finding(how.world, why);
	else
		printf("world %" PRIu64 ": all is well\n", how.world);
	choices_clear(&c);
	return fails;
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 0);

	if (!*text || *end) {
		fprintf(stderr, "'%s' is no number\n", text);
		exit(2);
	}
	return n;
}

static void read_options(int argc, char **argv)
{
	static const struct option known[] = {
		{ "seconds", required_argument, NULL, 's' }, { "worlds", required_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 'S' },    { "jobs", required_argument, NULL, 'j' },
		{ "world", required_argument, NULL, 'w' },   { "alone", no_argument, NULL, 'a' },
		{ "shrink", no_argument, NULL, 'k' },	     { "choices", required_argument, NULL, 'C' },
		{ "keep", required_argument, NULL, 'K' },    { "scenario", required_argument, NULL, 'R' },
		{ "true", no_argument, NULL, 't' },	     { "tally", required_argument, NULL, 'T' },
		{ "commit", required_argument, NULL, 'c' },  { "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	how.seed = ((uint64_t)time(NULL) << 16 ^ (uint64_t)getpid()) % 1000000000000;
	while ((c = getopt_long(argc, argv, "vh", known, NULL)) != -1)
		switch (c) {
		case 's': how.seconds = number(optarg); break;
		case 'n': how.worlds = number(optarg); break;
		case 'S': how.seed = number(optarg); break;
		case 'j': how.jobs = (unsigned)MIN(MAX(number(optarg), 1), JOBS_MOST); break;
		case 'w': how.world = number(optarg), how.one = true; break;
		case 'a': how.alone = true; break;
		case 'k': how.shrinks = how.one = true; break;
		case 'C': how.choices = optarg, how.one = true; break;
		case 'K': how.keep = optarg; break;
		case 'R': how.scenario = optarg; break;
		case 't': keys_true = true; break;
		case 'T': how.tally = optarg; break;
		case 'c': how.commit = optarg; break;
		case 'v': how.verbose = true; break;
		default: fputs(usage_text, c == 'h' ? stdout : stderr); exit(c == 'h' ? 0 : 2);
		}
}

int main(int argc, char **argv)
{
	read_options(argc, argv);
	if (how.one)
		return play_one();
	deadline_s = seconds_now() + how.seconds;
	progress = mmap(NULL, JOBS_MOST * sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			0);
	if (progress == MAP_FAILED) {
		perror("mmap");
		return 2;
	}
	printf("seeds from %" PRIu64 " on\n", how.seed);
	fflush(stdout);
	play_many();
	return sum_up();
}
