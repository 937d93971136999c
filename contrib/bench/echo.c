/* Sends every datagram back with its QR bit set: what answering costs when nothing is thought of.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: echo PORT one|epoll|batch|epoll-batch. At 127.0.0.1@PORT, until it is killed:
 *   one          blocking recvfrom, sendto
 *   epoll        epoll_wait, then recvfrom and sendto until there is no more
 *   batch        blocking recvmmsg that returns with what is there, sendmmsg
 *   epoll-batch  epoll_wait, then recvmmsg and sendmmsg until there is no more */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { BATCH = 32, PACKET = 4096 };

static int fd;

/* False when nothing is there. */
static bool answer_one(int flags)
{
	uint8_t packet[PACKET];
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	ssize_t n = recvfrom(fd, packet, sizeof(packet), flags, (struct sockaddr *)&from, &len);

	if (n < 0)
		return false;
	if (n > 2)
		packet[2] |= 0x80;
	sendto(fd, packet, (size_t)n, 0, (struct sockaddr *)&from, len);
	return true;
}

static bool answer_batch(int flags)
{
	static uint8_t packets[BATCH][PACKET];
	static struct mmsghdr messages[BATCH];
	static struct iovec vectors[BATCH];
	static struct sockaddr_in from[BATCH];
	int n;

	for (unsigned i = 0; i < BATCH; i++) {
		vectors[i] = (struct iovec){ .iov_base = packets[i], .iov_len = PACKET };
		messages[i].msg_hdr = (struct msghdr){ .msg_name = &from[i],
						       .msg_namelen = sizeof(from[i]),
						       .msg_iov = &vectors[i],
						       .msg_iovlen = 1 };
	}
	n = recvmmsg(fd, messages, BATCH, flags, NULL);
	if (n <= 0)
		return false;
	for (int i = 0; i < n; i++) {
		packets[i][2] |= 0x80;
		vectors[i].iov_len = messages[i].msg_len;
	}
	sendmmsg(fd, messages, (unsigned)n, 0);
	return true;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	struct epoll_event event = { .events = EPOLLIN };
	const char *how = argc == 3 ? argv[2] : "";
	bool batch = strstr(how, "batch") != NULL;
	int loop = epoll_create1(0);

	if (argc != 3) {
		fprintf(stderr, "usage: echo PORT one|epoll|batch|epoll-batch\n");
		return 2;
	}
	at.sin_port = htons((uint16_t)atoi(argv[1]));
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		perror("echo");
		return 1;
	}
	epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event);
	for (;;) {
		if (strncmp(how, "epoll", 5) != 0) {
			if (batch)
				answer_batch(MSG_WAITFORONE);
			else
				answer_one(0);
			continue;
		}
		epoll_wait(loop, &event, 1, -1);
		while (batch ? answer_batch(MSG_DONTWAIT) : answer_one(MSG_DONTWAIT))
			;
	}
}
