# util/conf: the configuration: options, their file, checks, and manual.
libresolver_la_SOURCES += \
	util/conf/conftext.c util/conf/conftext.h \
	util/conf/manpage.c util/conf/manpage.h \
	util/conf/options.c util/conf/options.def util/conf/options.h \
	util/conf/options_change.c \
	util/conf/options_check.c \
	util/conf/options_cross.c \
	util/conf/options_explain.c \
	util/conf/options_help.c \
	util/conf/options_man.c \
	util/conf/options_more.def \
	util/conf/options_parts.c \
	util/conf/options_paths.c \
	util/conf/options_print.c \
	util/conf/options_private.h \
	util/conf/options_report.c \
	util/conf/options_scripts.c \
	util/conf/options_table.c \
	util/conf/options_value.c \
	util/conf/options_warn.c \
	util/conf/parts.def util/conf/parts.h \
	util/conf/unbound.def

UNIT_TESTS += \
	util/conf/tests/conftext \
	util/conf/tests/options \
	util/conf/tests/parts
