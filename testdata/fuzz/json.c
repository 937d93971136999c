/* Any text as the reply to any command: as JSON it is well-formed, and has the values of the text.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Input: a byte that says which command it was; the reply. (What the daemon itself says to commands: session.c.) */
#include "testdata/fuzz/json_reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const plain[] = { "blocklist_status", "get_option", "flush", "a \"name\"\\\x7f\x01\xff" };
	char *reply;
	size_t which;

	if (len < 1 || len > 16384)
		return 0;
	which = data[0] % (COUNT(json_forms) + COUNT(plain));
	reply = mem_new(len);
	memcpy(reply, data + 1, len - 1);
	reply[len - 1] = '\0'; /* the client's buffer ends at the first */
	json_reply_check(which < COUNT(json_forms) ? json_forms[which].command : plain[which - COUNT(json_forms)],
			 reply, false);
	mem_free(reply);
	return 0;
}
