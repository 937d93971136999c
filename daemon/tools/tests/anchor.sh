#!/bin/sh
# Claims about resolver-anchor as a program: what it writes when, and how it ends.
# SPDX-License-Identifier: BSD-3-Clause
tool=${top_builddir:-.}/resolver-anchor
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0
key=$dir/root.key

fail()
{
	echo "FAIL: $*"
	failed=1
}

# ends WHY STATUS ARGUMENT...
ends()
{
	why=$1 status=$2
	shift 2
	"$tool" "$@" >"$dir/out" 2>"$dir/err"
	got=$?
	test $got = "$status" || fail "$why: ended with $got, not $status"
}

ends 'the built-in keys are listed' 0 -l
cp "$dir/out" "$dir/keys"
test "$(wc -l <"$dir/keys")" -eq 2 || fail 'two root keys are built in'
for tag in 20326 38696; do
	grep -q "^[.] IN DS $tag 8 2 [0-9A-F]\{64\}$" "$dir/keys" || fail "key $tag is built in"
done

ends 'a missing file is written' 1 -a "$key"
cmp -s "$key" "$dir/keys" || fail 'what is written is what is built in'
test ! -s "$dir/out" || fail 'it is silent'
ends 'a good file is left alone' 0 -v -a "$key"
grep -q good "$dir/out" || fail 'it says so when asked'

: >"$key"
ends 'an empty file is written' 1 -a "$key"
echo 'no key at all' >"$key"
ends 'a damaged file is written' 1 -a "$key"
cmp -s "$key" "$dir/keys" || fail 'and is whole again'
grep -q 'no key at all' "$key.damaged" || fail 'the damaged one is kept'
grep -q "$key:1:" "$dir/err" || fail 'it says what was wrong, and where'

echo '. IN DS 1 8 2 00112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF' >"$key"
ends 'keys of somebody else are left alone' 0 -a "$key"
grep -q 'none of the keys' "$dir/err" || fail 'it wonders about them'
grep -q 'DS 1 8 2' "$key" || fail 'they stay'

ends 'it ends badly where it cannot write' 2 -a "$dir/none/root.key"
ends 'options of unbound-anchor are taken' 0 -4 -R -C x -f y -r z -a "$key"
ends 'others are not' 2 -z
ends 'nor are arguments' 2 "$key"
exit $failed
