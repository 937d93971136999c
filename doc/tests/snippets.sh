#!/bin/bash
# Claims about the pages in doc/: what they show of configurations, commands and other pages is right.
# SPDX-License-Identifier: BSD-3-Clause
#
# A configuration is a fenced block marked conf, or an indented one that begins with a clause.
build=$(cd "${top_builddir:-.}" && pwd)
cd "${srcdir:-.}" || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0
fail() { echo "FAIL: $*"; failed=1; }

pages=(README.md doc/*.md)
clauses=$("$build/resolver-checkconf" --list-options | awk -F '\t' '$1 == "(top)" && $2 !~ /^include/ { print $2 }' |
	paste -sd '|')

# ---- configurations ----

awk -v dir="$dir" -v clause="^    ($clauses):" '
	function end() { if (out != "") close(out); out = "" }
	function begin(line) { out = sprintf("%s/%04d.conf", dir, ++count); print "# " FILENAME ":" line >out }
	FNR == 1 { end(); fenced = 0 }
	/^ *```/ {
		if (!fenced && $0 ~ /```conf$/)
			begin(FNR)
		else
			end()
		fenced = !fenced
		next
	}
	fenced { if (out != "") print >out; next }
	out == "" && $0 ~ clause { begin(FNR) }
	out != "" && (/^[^ ]/ || (/^    [^ #]/ && !/^    [a-z-]+:/)) { end() }
	out != "" { print >out }' "${pages[@]}"
count=0
for snippet in "$dir"/*.conf; do
	count=$((count + 1))
	said=$("$build/resolver-checkconf" --no-files -q "$snippet" 2>&1) ||
		! grep ': error: ' <<<"$said" | grep -qv 'this program was built without' ||
		fail "$(head -n 1 "$snippet"): ${said//$snippet/configuration}"
done
test "$count" -ge 10 || fail "only $count configurations were found"

# ---- commands ----

"$build/resolver-control" -h | sed -n 's/^  \([a-z_]*\) .*/\1/p' >"$dir/commands"
grep -noE '(resolver|unbound)-control( -[a-z]+ [^ `]+)* [a-z_]+' "${pages[@]}" | grep -v -- '-control-setup' |
	while IFS= read -r found; do
		grep -qx "${found##* }" "$dir/commands" || echo "$found"
	done | grep -E -- '-control( -c [^ ]+)* [a-z]+(_[a-z]+)+$' >"$dir/unknown"
test ! -s "$dir/unknown" || fail "no such command: $(cat "$dir/unknown")"

# flags PROGRAM FILE: those that the pages give it are in the file.
flags()
{
	grep -noE "(^|[^a-z/-])$1 --?[a-zA-Z][a-z0-9-]*" "${pages[@]}" | while IFS= read -r found; do
		grep -qwF -e "${found##* }" "$2" || echo "$found"
	done >"$dir/unknown"
	test ! -s "$dir/unknown" || fail "no such option: $(cat "$dir/unknown")"
}
for program in resolverd resolver-checkconf resolver-control resolver-control-setup resolver-anchor resolver-host; do
	"$build/$program" -h >"$dir/help" 2>&1
	flags "$program" "$dir/help"
done
sed -n 's/^AC_ARG_\(ENABLE\|WITH\)(\[\([a-z0-9-]*\)\].*/--enable-\2 --disable-\2 --with-\2 --without-\2/p' configure.ac >"$dir/help"
sed -n 's/^PART(\[\([a-z0-9-]*\)\].*/--enable-\1 --disable-\1/p' configure.ac >>"$dir/help"
flags configure "$dir/help"

# `name:` is an option or a clause.
"$build/resolver-checkconf" --list-options | cut -f 2 | sort -u >"$dir/names"
grep -noE '`[a-z][a-z0-9-]*:`' "${pages[@]}" | grep -vE 'DESIGN|STYLE|walk|`(query|reply|info|notice|warning|error|debug|fatal|failing|include|http|https):`' | while IFS= read -r found; do
	name=${found#*\`}
	grep -qx -e "${name%:\`}" "$dir/names" || echo "$found"
done >"$dir/unknown"
test ! -s "$dir/unknown" || fail "no such option or clause: $(cat "$dir/unknown")"

# ---- the picture of the README ----

! command -v python3 >/dev/null || python3 -B contrib/bench/picture.py --check doc/performance.md doc/performance.svg ||
	fail "doc/performance.svg is not what contrib/bench/picture.py draws of doc/performance.md"

# ---- links ----

for page in "${pages[@]}"; do
	grep -oE '\]\([^)# ]+' "$page" | sed 's/^](//' | grep -v '^[a-z]*:' | while IFS= read -r link; do
		test -e "$(dirname "$page")/$link" || echo "$page: nothing at $link"
	done
done >"$dir/unknown"
test ! -s "$dir/unknown" || fail "$(cat "$dir/unknown")"
# All pages are in the index.
for page in doc/*.md; do
	grep -q "(${page#doc/})" doc/README.md || test "$page" = doc/README.md || fail "doc/README.md does not name $page"
done
exit $failed
