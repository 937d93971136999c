/* Errors the operator can mend: keeping the first sentence.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void fault_set(struct fault *f, const char *fmt, ...)
{
	va_list ap;

	if (!f || f->set)
		return;
	f->set = true;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
}

void fault_place(struct fault *f, const char *file, unsigned line)
{
	char text[sizeof(f->text)];

	if (!f || !f->set || f->placed || !file || !*file)
		return;
	f->placed = true;
	memcpy(text, f->text, sizeof(text));
	snprintf(f->text, sizeof(f->text), "%.200s:%u: %.290s", file, line, text);
}
