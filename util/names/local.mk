# util/names: tables of many names.
libresolver_la_SOURCES += \
	util/names/nameset.c util/names/nameset.h \
	util/names/nameset_file.c \
	util/names/nameset_make.c \
	util/names/nameset_private.h \
	util/names/nametable.c util/names/nametable.h \
	util/names/suffix.h \
	util/names/trie.c util/names/trie.h

UNIT_TESTS += \
	util/names/tests/nameset \
	util/names/tests/nametable \
	util/names/tests/trie
