# services/blocklist: published lists of names to block: sources, formats, tables, answers.
libresolver_la_SOURCES += \
	services/blocklist/adblock.c \
	services/blocklist/answer.c services/blocklist/answer.h \
	services/blocklist/blocklist.c services/blocklist/blocklist.h \
	services/blocklist/clause.c services/blocklist/clause.h \
	services/blocklist/clients.c services/blocklist/clients.h \
	services/blocklist/json.c \
	services/blocklist/line.c services/blocklist/line.h \
	services/blocklist/load.c services/blocklist/load.h \
	services/blocklist/load_private.h \
	services/blocklist/name.c services/blocklist/name.h \
	services/blocklist/private.h \
	services/blocklist/read.c services/blocklist/read.h \
	services/blocklist/rows.c \
	services/blocklist/rpz.c \
	services/blocklist/rules.c services/blocklist/rules.h \
	services/blocklist/saved_table.c services/blocklist/saved_table.h \
	services/blocklist/source.c \
	services/blocklist/special.c services/blocklist/special.h \
	services/blocklist/state.c services/blocklist/state.h \
	services/blocklist/table.c services/blocklist/table.h

UNIT_TESTS += \
	services/blocklist/tests/answer \
	services/blocklist/tests/blocklist \
	services/blocklist/tests/clients \
	services/blocklist/tests/name \
	services/blocklist/tests/read \
	services/blocklist/tests/rules \
	services/blocklist/tests/table
