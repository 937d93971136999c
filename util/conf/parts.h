/* The parts of the program that configure can leave out (util/conf/parts.def).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CONF_PARTS_H
#define UTIL_CONF_PARTS_H

#include "util/base/base.h"

#define CLAUSE(part, clause)
#define OPTION(part, clause, name)
#define MODULE(part, name)
enum part {
#define PART(name, what, how) PART_##name,
#include "util/conf/parts.def"
#undef PART
	PARTS
};
#undef CLAUSE
#undef OPTION
#undef MODULE

/* NULL when the part is here; else the sentence for whoever wants it: "this program was built without dnstap (see
 * configure --disable-dnstap)". */
const char *part_lack(enum part p) PURE;

#endif
