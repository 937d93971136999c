# validator: whether an answer is true: from the trust anchor down to the signature.
libresolver_la_SOURCES += \
	validator/anchors.c validator/anchors.h validator/anchors_conf.c validator/bind_keys.c validator/bind_keys.h \
	validator/autotrust.c validator/autotrust.h validator/autotrust_file.c validator/autotrust_private.h \
	validator/trust_chain.c validator/trust_chain.h \
	validator/clock.c validator/clock.h \
	validator/crypto.c validator/crypto.h validator/algorithm.def \
	validator/date.c validator/date.h \
	validator/answer_validity.c validator/answer_validity.h \
	validator/answer_denial.c validator/answer_private.h \
	validator/keycache.c validator/keycache.h \
	validator/keyset.c validator/ds_match.c \
	validator/checked_sigs.c validator/checked_sigs.h \
	validator/roll.c validator/roll.h \
	validator/rules.c validator/rules.h \
	validator/trust.c validator/trust.h \
	validator/validator.c validator/validator.h \
	validator/verify.c validator/verify.h validator/verify_private.h

UNIT_TESTS += \
	validator/tests/anchors \
	validator/tests/autotrust \
	validator/tests/autotrust_file \
	validator/tests/beside \
	validator/tests/trust_chain \
	validator/tests/trust_chain_edges \
	validator/tests/trust_chain_turns \
	validator/tests/crypto \
	validator/tests/answer_validity \
	validator/tests/answer_denial \
	validator/tests/answer_edges \
	validator/tests/answer_sets \
	validator/tests/keycache \
	validator/tests/keyset \
	validator/tests/checked_sigs \
	validator/tests/conclusions \
	validator/tests/roll \
	validator/tests/rules \
	validator/tests/states \
	validator/tests/validator \
	validator/tests/verify \
	validator/tests/verify_edges \
	validator/tests/ds_match \
	validator/tests/ds_match_which

EXTRA_DIST += \
	validator/tests/answer_fixture.h validator/tests/lab.h validator/tests/rolling.h \
	validator/tests/zones/ed25519.zone validator/tests/zones/ed448.zone \
	validator/tests/zones/p256.zone validator/tests/zones/p384.zone \
	validator/tests/zones/rsasha1.zone validator/tests/zones/rsasha1n.zone \
	validator/tests/zones/rsasha256.zone validator/tests/zones/rsasha512.zone

