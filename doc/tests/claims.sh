#!/bin/bash
# What the pages claim, and how it is shown: doc/tests/claims, line by line.
# SPDX-License-Identifier: BSD-3-Clause
#
# The words are on the page, what shows them exists, and no row of the tables that compare is without such a line.
build=$(cd "${top_builddir:-.}" && pwd)
cd "${srcdir:-.}" || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
claims=doc/tests/claims
failed=0
fail() { echo "FAIL: $*"; failed=1; }

"$build/resolver-control" -h | sed -n 's/^  \([a-z_]*\) .*/\1/p' >"$dir/commands"
"$build/resolver-checkconf" --list-options | cut -f 2 | sort -u >"$dir/options"
cat testdata/attacks/*.py | grep -oE '@attack\([0-9]+, "[^"]+"' | sed 's/.*"\([^"]*\)"/\1/' | sort -u >"$dir/attacks"
sed -n 's/^### \([^:]*\):.*/\1/p' doc/performance.md >"$dir/figures"
cat doc/*.md README.md >"$dir/pages"

# is_test FILE NAME: a claim of cmocka, a function of pytest, or words of a shell script.
is_test()
{
	case $1 in
	*.c) grep -qE "^static void $2\\(void|^CLAIM\\($2\\)" "$1" ;;
	*.py) grep -q "^def $2(" "$1" ;;
	*) grep -qF -e "$2" "$1" ;;
	esac 2>/dev/null
}

# is_shown KIND REST: there is such a test, scenario, ...
is_shown()
{
	case $1 in
	test) is_test "${2%%::*}" "${2#*::}" ;;
	scenario) test -f "testdata/replay/$2.rpl" ;;
	attack) grep -qx -e "$2" "$dir/attacks" ;;
	bench) grep -qxF -e "$2" "$dir/figures" ;;
	command) grep -qx -e "$2" "$dir/commands" ;;
	option) grep -qx -e "$2" "$dir/options" ;;
	switch) "$build/${2%% *}" -h 2>&1 | grep -qwF -e "${2#* }" ;;
	configure) grep -qF -e "[${2}]" configure.ac ;;
	file) test -e "$2" ;;
	code) test -f "${2%%::*}" && grep -qF -e "${2#*::}" "${2%%::*}" ;;
	source) grep -qF -e "$2" doc/comparison.md ;;
	*) return 1 ;;
	esac
}

# ---- what shows it ----

grep -v '^#' "$claims" | cut -f 3 | grep . | tr ';' '\n' | sed 's/^ *//;s/ *$//' | sort -u >"$dir/shown"
while read -r kind rest; do
	is_shown "$kind" "$rest" || fail "$claims: nothing is shown by: $kind $rest"
done <"$dir/shown"

# ---- the words ----

# one PAGE: all of it in one line.
one() { tr -s ' \n' ' ' <"$1"; }
count=0 page=
while IFS=$'\t' read -r of words shown more; do
	case $of in '#'* | '') continue ;; esac
	count=$((count + 1))
	test -n "$words" && test -n "$shown" && test -z "$more" || fail "$claims: a line has three fields: $of $words"
	if [ "$of" != "$page" ]; then
		page=$of
		text=$(one "$page") || fail "$claims: no page $page"
	fi
	case $text in *"$words"*) ;; *) fail "$page does not say: $words" ;; esac
done <"$claims"
test "$count" -ge 200 || fail "$claims has only $count lines"

# ---- the picture of the README ----

# the_least FIGURE: in its table nobody takes less CPU time than resolverd.
the_least()
{
	awk -F '|' -v figure="### $1:" '
		/^### / { here = index($0, figure) == 1 }
		here && /^\| resolverd / { ours = $3 + 0 }
		here && /^\| [a-z]+ [0-9]/ && $3 + 0 > 0 && (least == "" || $3 + 0 < least) { least = $3 + 0 }
		END { exit !(ours > 0 && least > ours) }' doc/performance.md || fail "doc/performance.md: $1: resolverd takes not the least"
}
drawn=$(sed -n '/^PANELS/,/\]/p' contrib/bench/picture.py | grep -oE '"W[^"]*"' | tr -d '"')
for figure in $drawn; do
	the_least "$figure"
done
test -n "$drawn" || fail "contrib/bench/picture.py draws nothing that was found"

# ---- rows without a claim ----

# rows PAGE [HEADING]: each row of its tables, and under a heading each point, too, in one line of its own.
rows()
{
	awk -v heading="$2" '
		function end() { if (row != "") print row; row = "" }
		/^#/ { end(); here = heading == "" || $0 == "## " heading; next }
		NR == 1 { here = heading == "" }
		/^\|/ { end(); if (here && before ~ /^\|/ && $0 !~ /^\| *-/) print; before = $0; next }
		{ before = $0 }
		/^- / { end(); if (here && heading != "") row = $0; next }
		/^ *$/ { end(); next }
		row != "" { sub(/^ */, ""); row = row " " $0 }
		END { end() }' "$1"
}
# has_claims PAGE LEAST: of the rows on standard input.
has_claims()
{
	local row words said=0
	awk -F '\t' -v page="$1" '$1 == page { print $2 }' "$claims" >"$dir/words"
	while IFS= read -r row; do
		said=$((said + 1))
		grep -qF -f "$dir/words" <<<"$row" || fail "$1: no line of $claims shows: $row"
	done
	test "$said" -ge "$2" || fail "$1: only $said rows were found"
}
has_claims README.md 10 < <(rows README.md '')
has_claims doc/comparison.md 30 < <(rows doc/comparison.md '')
has_claims doc/migration.md 15 < <(rows doc/migration.md Better)
has_claims doc/migration.md 5 < <(rows doc/migration.md 'Not there, and what to do instead')
has_claims doc/migration.md 37 < <(rows doc/migration.md 'Different on purpose')
has_claims doc/hardening.md 9 < <(rows doc/hardening.md '')
has_claims doc/blocking.md 20 < <(rows doc/blocking.md '')
has_claims doc/isp.md 8 < <(rows doc/isp.md '')
exit $failed
