/* Errors the operator can mend: keeping the first sentence.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/fault.h"

#include <stdarg.h>
#include <stdio.h>

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
