# util: no DNS policy. One line per room, in alphabetical order.
libresolver_la_SOURCES += \
	util/addr.c util/addr.h \
	util/arena.c util/arena.h \
	util/ascii.c util/ascii.h \
	util/base.h \
	util/base64url.c util/base64url.h \
	util/bytes.h \
	util/conftext.c util/conftext.h \
	util/denial.c util/denial.h util/nsec3.c util/type_bitmap.c util/type_bitmap.h \
	util/dname.c util/dname.h \
	util/edns.c util/edns.h \
	util/fault.c util/fault.h \
	util/file.c util/file.h \
	util/hash.c util/hash.h \
	util/house.c util/house.h \
	util/http2_client.c util/http2_client.h \
	util/http2_server.c util/http2_server.h \
	util/http2_toll.c util/http2_toll.h \
	util/json.c util/json.h \
	util/kernset.c util/kernset.h \
	util/list.h \
	util/log.c util/log.h \
	util/log_out.c util/log_out.h \
	util/log_repeats.c util/log_repeats.h \
	util/log_ring.c util/log_ring.h \
	util/loop.c util/loop.h \
	util/manpage.c util/manpage.h \
	util/mem.c util/mem.h \
	util/msg.c util/msg.h util/msg_read.c util/msg_write.c \
	util/msgname.c util/msgname.h \
	util/nameset.c util/nameset.h util/nameset_private.h \
	util/nameset_file.c util/nameset_make.c \
	util/nametable.c util/nametable.h \
	util/options.c util/options.def util/options.h util/options_private.h \
	util/options_change.c util/options_check.c util/options_danger.c \
	util/options_explain.c util/unbound.def \
	util/options_man.c util/options_more.def \
	util/options_paths.c util/options_print.c \
	util/options_report.c util/options_scripts.c util/options_table.c \
	util/options_value.c util/options_whole.c \
	util/pattern.c util/pattern.h \
	util/proxy2.c util/proxy2.h \
	util/random.c util/random.h \
	util/rcu.c util/rcu.h \
	util/reason.c util/reason.def util/reason.h \
	util/rr.c util/rr.h util/rrtype.def \
	util/rrset.c util/rrset.h \
	util/stream.c util/stream.h \
	util/subnet.c util/subnet.h \
	util/suffix.h \
	util/text.c util/text.h util/text_field.c util/text_field.h util/text_print.c util/text_series.c util/text_series.h util/text_zone.c \
	util/text_svcb.c util/text_svcb.h \
	util/textlex.h \
	util/thread.c util/thread.h \
	util/timebase.c util/timebase.h \
	util/tls.c util/tls.h util/tls_context.c util/tls_kept.c util/tls_private.h util/tls_sessions.c \
	util/tls_tickets.c util/tls_wire.c \
	util/trie.c util/trie.h

if HAVE_CMOCKA
UTIL_TESTS = \
	util/tests/addr \
	util/tests/arena \
	util/tests/base64url \
	util/tests/bytes \
	util/tests/conftext \
	util/tests/denial \
	util/tests/dname \
	util/tests/edns \
	util/tests/file \
	util/tests/hash \
	util/tests/http2_client \
	util/tests/http2_server \
	util/tests/json \
	util/tests/kernset \
	util/tests/list \
	util/tests/log \
	util/tests/log_ring \
	util/tests/loop \
	util/tests/mem \
	util/tests/msg_read \
	util/tests/msg_write \
	util/tests/nameset \
	util/tests/nametable \
	util/tests/options \
	util/tests/pattern \
	util/tests/proxy2 \
	util/tests/random \
	util/tests/rcu \
	util/tests/reason \
	util/tests/rr \
	util/tests/rrset \
	util/tests/subnet \
	util/tests/text \
	util/tests/text_series \
	util/tests/text_svcb \
	util/tests/thread \
	util/tests/timebase \
	util/tests/tls \
	util/tests/tls_chroot \
	util/tests/tls_context_memory \
	util/tests/tls_ends \
	util/tests/tls_files \
	util/tests/tls_pieces \
	util/tests/trie

EXTRA_DIST += util/tests/ca.h util/tests/msg_text.h util/tests/store.h util/tests/tls_pair.h util/tests/turn.h util/tests/wire.h util/tests/zone.h \
	util/tests/zones/nsec.zone util/tests/zones/nsec3.zone util/tests/zones/optout.zone
check_PROGRAMS += $(UTIL_TESTS)
TESTS += $(UTIL_TESTS)
endif
