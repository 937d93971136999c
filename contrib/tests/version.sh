#!/bin/sh
# Claims about the version: configure.ac says it once, and whatever names one follows.
# SPDX-License-Identifier: BSD-3-Clause
set -u
srcdir=$(cd "${srcdir:-.}" && pwd)
cd "${top_builddir:-.}" || exit 1
failed=0
fail() {
	echo "FAIL: $*"
	failed=1
}

version=$(sed -n 's/^AC_INIT(\[resolverd\], \[\([^]]*\)\].*/\1/p' "$srcdir/configure.ac")
case $version in
[0-9]*.[0-9]*.[0-9]*) ;;
*) fail "configure.ac says '$version'" ;;
esac

# same WHO SAYS: it is that version.
same() { test "$2" = "$version" || fail "$1 says '$2', not $version"; }

for program in resolverd resolver-anchor resolver-checkconf resolver-control resolver-control-setup resolver-host; do
	same "$program -V" "$(./$program -V | sed -n '1s/^Version //p')"
	test "$program" = resolver-control-setup || # getopts of the shell knows no long ones
		same "$program --version" "$(./$program --version | sed -n '1s/^Version //p')"
done
for word in help --help; do
	./resolver-control "$word" | grep -q '^usage: ' || fail "resolver-control $word does not help"
done
same "the distribution" "$(sed -n 's/^VERSION = //p' Makefile)"
for page in doc/man/*.[158]; do
	test -f "$page" || continue # a build for another machine has none
	same "$page" "$(sed -n 's/^\.TH .*"resolverd \(.*\)"$/\1/p' "$page")"
done
same doc/CHANGES.md "$(sed -n '/, unreleased$/!s/^## \([0-9.]*\).*/\1/p' "$srcdir/doc/CHANGES.md" | head -n 1)"

# Nothing else in the tree writes it down.
word="(^|[^0-9.])$(echo "$version" | sed 's/[.]/[.]/g')([^0-9.]|\$)"
found=$(cd "$srcdir" && grep -rlE -e "$word" --include='*.[ch]' --include='*.def' --include='*.in' --include='*.mk' \
	--include='*.am' --include='*.sh' util services iterator validator daemon contrib doc/man Makefile.am 2>/dev/null |
	grep -v '/tests/')
test -z "$found" || fail "it is written again in $found"
exit "$failed"
