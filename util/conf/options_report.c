/* Remarks on a configuration: adding one, the first error, freeing them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/conf/options_private.h"

#include <stdarg.h>
#include <string.h>

#include "util/base/mem.h"

void conf_remark(struct conf_report *report, enum conf_weight weight, const char *file,
		 unsigned line, const char *fmt, ...)
{
	struct conf_remark *r;
	char text[1024];
	va_list ap;

	if (!report)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	report->errors += weight == CONF_ERROR;
	if ((report->count & (report->count - 1)) == 0)
		report->remarks = mem_grow(report->remarks, (report->count ? 2 * report->count : 1) *
								    sizeof(*report->remarks));
	r = &report->remarks[report->count++];
	*r = (struct conf_remark){
		.weight = weight, .file = mem_text(file), .line = line, .text = mem_text(text)
	};
}

void conf_report_clear(struct conf_report *report)
{
	for (size_t i = 0; i < report->count; i++) {
		mem_free(report->remarks[i].file);
		mem_free(report->remarks[i].text);
	}
	mem_free(report->remarks);
	*report = (struct conf_report){ 0 };
}

void conf_report_fault(const struct conf_report *report, struct fault *f)
{
	for (size_t i = 0; i < report->count; i++) {
		const struct conf_remark *r = &report->remarks[i];

		if (r->weight != CONF_ERROR)
			continue;
		if (r->line)
			fault_set(f, "%s:%u: %s", r->file, r->line, r->text);
		else if (*r->file)
			fault_set(f, "%s: %s", r->file, r->text);
		else
			fault_set(f, "%s", r->text);
		return;
	}
}
