/* In place of the room in a build without: module-config cannot name it (util/conf/parts.def).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/dns64/dns64.h"

const struct module dns64_module = { .name = "" };
