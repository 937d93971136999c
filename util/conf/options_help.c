/* What options are for, as text: apart from the table, so that only programs that print it contain it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/conf/options_private.h"

static const char *const texts[] = {
#define GROUP(clause_, heading_)        "",
#define ALIAS(clause_, name_, real_)    "",
#define OPT(clause_, type_, name_, dflt_, least_, most_, check_, status_, help_) help_,
#include "util/conf/options.def"
#undef GROUP
#undef ALIAS
#undef OPT
};

const char *conf_option_help(const struct option *o)
{
	return texts[o - conf_options];
}
