#!/bin/sh
# Claims about testdata/differential/generate where there is nobody to judge.
# SPDX-License-Identifier: BSD-3-Clause
srcdir=${srcdir:-.}
test -x "$srcdir/testdata/differential/generate" || { echo "SKIP: a tarball has no testdata/differential"; exit 77; }
python3 -c 'import dns.rdata, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "SKIP: python3 has no dns.rdata (dnspython), or is older than 3.11"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0

# claim WHY STATUS ERR ARGUMENT...: ERR is a pattern of grep; there is no trace of Python's.
claim()
{
	why=$1 status=$2 err=$3
	shift 3
	GENERATE_UNSTABLE=$dir "$srcdir/testdata/differential/generate" --bin "$dir" "$@" >"$dir/out" 2>"$dir/err"
	got=$?
	if test "$got" != "$status" || ! grep -q -e "$err" "$dir/err" || grep -q Traceback "$dir/err"; then
		echo "FAIL: $why: ended with $got, not $status"
		sed 's/^/	/' "$dir/err"
		failed=1
	fi
}

claim "no judge is installed" 77 "^none of the judges is installed (unbound bind powerdns knot)"
claim "nor the one that is wanted" 77 "^none of the judges is installed (knot)" --judges knot
claim "a judge that nobody knows" 2 "judges are unbound, bind" --judges "unbound nobody"
exit $failed
