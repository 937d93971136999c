/* DNSSEC records: bitmaps of types, keys, signatures, DS.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Replaced: names by what is proven of them (proven.h). */
#include "prove.h"
#include "proven.h"

#include "util/dns/denial.c"
#include "util/dns/type_bitmap.c"
#include "validator/crypto.c"
#include "validator/keyset.c"

static struct slice any_slice(void)
{
	size_t len = any_up_to(BYTES);

	return (struct slice){ any_bytes(len), len };
}

void prove_bitmap(void)
{
	struct slice bitmap = any_slice();
	bool sound = types_are_sound(bitmap);

	REACHED("a sound one", sound && bitmap.len > 100);
	REACHED("a malformed one", !sound);
}

void prove_types(void)
{
	struct slice bitmap = any_slice();

	REACHED("a type", types_hold(bitmap, any_uint16_t()));
}

void prove_data(void)
{
	struct slice bitmap = any_slice();

	REACHED("data", types_hold_data(bitmap));
}

/* Where a part of RDATA may be. */
static bool is_part(struct slice part, struct slice whole)
{
	return WITHIN(whole.at, part.at, whole.at + whole.len) && part.len <= whole.len - AT(part.at);
}

void prove_records(void)
{
	struct slice rdata = any_slice();
	struct dnskey key;
	struct ds ds;
	struct rrsig sig;
	bool is_key = dnskey_read(rdata, &key), is_ds = ds_read(rdata, &ds), is_sig = rrsig_read(rdata, &sig);

	CLAIM("a key's bytes are in its record", !is_key || is_part(key.public_key, rdata));
	CLAIM("a digest is in its record", !is_ds || is_part(ds.digest, rdata));
	CLAIM("a signature is in its record", !is_sig || (is_part(sig.signature, rdata) && is_part(sig.head, rdata)));
	CLAIM("and so is its signer's name", !is_sig || WITHIN(rdata.at, sig.signer, rdata.at + rdata.len));
	REACHED("a signature", is_sig && sig.signature.len == 256);
	REACHED("none", !is_sig && is_key);
}

void prove_rsa(void)
{
	struct slice key = any_slice(), e, n;
	bool good = split_rsa(key, &e, &n);
	unsigned bits = good ? bits_of(n) : 0;

	CLAIM("the exponent is in the key", !good || (e.len > 0 && is_part(e, key)));
	CLAIM("the modulus is in the key", !good || (n.len > 0 && is_part(n, key)));
	CLAIM("it has the bits of its length", !good || (bits <= 8 * n.len && bits > 8 * (n.len - 1)));
	REACHED("a key of 2048 bits", bits == 2048);
	REACHED("a long exponent", good && e.len > 255);
	REACHED("none", !good);
}
