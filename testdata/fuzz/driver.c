/* Stands in for libFuzzer: runs a target over the files named, and over cheap changes of each.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The changes are the same in every run, so that a failure can be had again. When
 * the target aborts, the input in hand is left in the file "crash" of the working
 * folder. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum {
	CHANGES_IN_ALL = 20000, /* shared out among the files */
	CHANGES_LEAST = 50,
	CHANGES_MOST = 4000,
	FILE_MOST = 1 << 20,
	TIME_MOST_S = 3, /* shared out as well; what is left out then is the end of the changes */
};

static uint64_t seed;
static const uint8_t *in_hand;
static size_t in_hand_len;

static uint32_t draw(uint32_t bound)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return bound ? (uint32_t)(seed >> 33) % bound : 0;
}

static void keep_what_crashed(int number)
{
	int fd = open("crash", O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd >= 0 && write(fd, in_hand, in_hand_len) == (ssize_t)in_hand_len)
		close(fd);
	signal(number, SIG_DFL);
	raise(number);
}

/* The target gets its own copy, so that a sanitizer sees a read past the end. */
static void run(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	if (!copy)
		abort();
	memcpy(copy, data, len);
	in_hand = copy;
	in_hand_len = len;
	LLVMFuzzerTestOneInput(copy, len);
	in_hand_len = 0;
	free(copy);
}

static size_t change(uint8_t *data, size_t len, size_t room)
{
	static const uint8_t telling[] = { 0,    1,   0x3f, 0x40, 0x7f, 0x80, 0xc0, 0xff,
					   '\n', '"', '\\', '.',  '/',  '-',  ' ',  '0' };
	size_t at = draw((uint32_t)len), n;

	switch (len ? draw(7) : 3) {
	case 0: /* one bit */
		data[at] ^= (uint8_t)(1u << draw(8));
		return len;
	case 1: /* a byte that often matters */
		data[at] = telling[draw(sizeof(telling))];
		return len;
	case 2: /* cut */
		return at;
	case 3: /* put a byte in */
		if (len == room)
			return len;
		memmove(data + at + 1, data + at, len - at);
		data[at] = draw(2) ? telling[draw(sizeof(telling))] : (uint8_t)draw(256);
		return len + 1;
	case 4: /* take some out */
		n = 1 + draw((uint32_t)(len - at));
		memmove(data + at, data + at + n, len - at - n);
		return len - n;
	case 5: /* twice the same */
		n = 1 + draw((uint32_t)(len - at));
		if (n > room - len)
			return len;
		memmove(data + at + n, data + at, len - at);
		return len + n;
	default: /* any byte */
		data[at] = (uint8_t)draw(256);
		return len;
	}
}

static void run_changed(const uint8_t *data, size_t len, uint8_t *work, size_t room)
{
	memcpy(work, data, len);
	for (uint32_t left = 1 + draw(4); left; left--)
		len = change(work, len, room);
	run(work, len);
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* `most_us`: what its changes may take. */
static bool run_file(const char *path, uint32_t changes, uint64_t most_us)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(FILE_MOST), *work = malloc(2 * FILE_MOST);
	size_t len;

	if (!f || !data || !work) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		free(data);
		free(work);
		if (f)
			fclose(f);
		return false;
	}
	len = fread(data, 1, FILE_MOST, f);
	fclose(f);
	run(data, len);
	for (uint64_t end = now_us() + most_us; changes && now_us() < end; changes--)
		run_changed(data, len, work, len + 64);
	free(data);
	free(work);
	return true;
}

int main(int argc, char **argv)
{
	uint32_t files = (uint32_t)(argc - 1), changes;
	bool good = argc > 1;

	changes = files ? CHANGES_IN_ALL / files : 0;
	changes = changes < CHANGES_LEAST ? CHANGES_LEAST : changes;
	changes = changes > CHANGES_MOST ? CHANGES_MOST : changes;
	signal(SIGABRT, keep_what_crashed);
#ifndef WITH_SANITIZERS /* which tell more of a bad access themselves */
	signal(SIGSEGV, keep_what_crashed);
#endif
	run((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++) {
		seed = (uint64_t)i;
		good &= run_file(argv[i], changes, TIME_MOST_S * UINT64_C(1000000) / files);
	}
	printf("%u inputs, at most %u changes of each\n", files, changes);
	return good ? 0 : 1;
}
