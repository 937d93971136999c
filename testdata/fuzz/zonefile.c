/* Any text as the file of a zone held here: what is read of it is written and read again as the same zone.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The first byte says which zone it is, and whether what cannot be read is passed over, as in policy zones; the rest
 * is the file. */
#include "testdata/fuzz/zones.h"
#include "util/base/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define W(text) ((const uint8_t *)(text))

static void no_line(const char *line, void *arg)
{
	(void)line;
	(void)arg;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint8_t *const apexes[] = { W(""), W("\7example"), W("\3sub\7example"), W("\1$\1@") };
	struct fault f = { 0 };
	struct zonedata *z;
	size_t broken = 0;
	struct zonedata_how how = { .path = "file", .broken = &broken };

	if (len < 2)
		return 0;
	log_capture(no_line, NULL);
	how.apex = data[0] == 'Z' ? apexes[0] : apexes[data[0] % COUNT(apexes)];
	how.lenient = data[0] == 'Z' || data[0] & 8;
	how.file = fmemopen((void *)(uintptr_t)(data + 1), len - 1, "r");
	PROMISE(how.file);
	z = zonedata_read(&how, &f);
	PROMISE(z || f.set);
	if (z)
		zones_check_written(z, how.apex, how.lenient);
	zonedata_free(z);
	return 0;
}
