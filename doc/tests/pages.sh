#!/bin/bash
# Claims about what contrib/pages makes: manual pages that are whole and well-formed, completions that complete.
# SPDX-License-Identifier: BSD-3-Clause
build=${top_builddir:-.}
srcdir=${srcdir:-.}
cd "$build" || exit 1
# A build for another machine has none.
test -f doc/man/resolverd.8 || exit 77
failed=0
fail() { echo "FAIL: $*"; failed=1; }

# ---- manual pages ----

for page in doc/man/*.[158]; do
	grep -q '@[A-Za-z_]*@' "$page" && fail "$page: a word was not filled in"
	if command -v mandoc >/dev/null; then
		# A line with a folder in it may be as long as the folder's name.
		said=$(mandoc -T lint "$page" 2>&1 | grep -v 'longer than 80 bytes')
		test -z "$said" || fail "$said"
	fi
	if command -v groff >/dev/null && command -v man >/dev/null; then
		said=$(LC_ALL=C MANROFFSEQ='' man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
		test -z "$said" || fail "$page: $said"
	fi
done

# has PAGE: each word of the input has a place of its own.
has()
{
	local missing
	missing=$(LC_ALL=C sort -u | LC_ALL=C comm -23 - <(sed -n -e 's/\\-/-/g' -e 's/^\(\.B \|\\fB\)\([a-z0-9_-]*\).*/\2/p' "$1" |
		LC_ALL=C sort -u) | tr '\n' ' ')
	test -z "$missing" || fail "$1: nothing about $missing"
}
./resolver-checkconf --list-options | awk -F '\t' '$1 != "(top)" && $2 !~ /^fake-/ { print $2 }' |
	has doc/man/resolver.conf.5
./resolver-control -h | sed -n 's/^  \([a-z_][a-z_]*\) .*/\1/p' | has doc/man/resolver-control.8

# ---- completion ----

# offers WORD...: the last one is being typed. What bash offers.
offers()
{
	bash -c 'cd "$1" && . contrib/completion/resolver-control && shift && COMP_WORDS=("$@") &&
		COMP_CWORD=$(($# - 1)) && _resolver "$1" "${COMP_WORDS[COMP_CWORD]}" "" 2>&1
		printf "%s\n" "${COMPREPLY[@]}"' bash "$PWD" "$@" | LC_ALL=C sort -u | tr '\n' ' '
}

# completes WANTED WORD...: WANTED is a pattern for all that is offered.
completes()
{
	local want=$1 got
	shift
	got=$(offers "$@")
	# shellcheck disable=SC2053 # a pattern it is
	[[ $got == $want ]] || fail "$*: offered '$got', not '$want'"
}
completes 'stats stats_noreset status ' resolver-control stat
completes 'flush_infra ' resolver-control -q flush_i
completes 'num-threads ' resolver-control get_option num-t
completes 'num-threads: ' resolver-control set_option num-t
completes 'no yes ' resolver-control set_option prefetch: ''
completes 'no yes ' resolver-control set_option prefetch : ''
completes ' ' resolver-control set_option num-threads: ''
completes 'always_nodata always_null always_nxdomain ' resolver-control local_zone x.example always_n
completes 'view-first ' resolver-checkconf -o view-f
completes '*AAAA *' resolver-host -t ''
completes 'DNSKEY ' resolver-control flush_type x.example DNSK
completes '--from-unbound ' resolver-checkconf --from
completes '--json ' resolver-control --j
completes 'ecdsa ' resolver-control-setup -a e
completes 'config.status ' resolverd -c config.s
completes ' ' resolver-control forward_remove ''
completes ' ' resolver-control no_such_command x

if command -v zsh >/dev/null; then
	zsh -f -n contrib/completion/_resolverd || fail "zsh does not understand contrib/completion/_resolverd"
fi
# zoffers WORD...: what zsh offers, by a compadd that prints it.
zoffers()
{
	zsh -f -c 'compadd() {
			local -a names; local array=
			while [[ $1 == -* ]]; do
				case $1 in -a) array=yes ;; -S) shift ;; --) shift; break ;; esac
				shift
			done
			if [[ -n $array ]]; then names=(${(P)1}); else names=("$@"); fi
			print -l -- ${(M)names:#${PREFIX}*}
		}
		_files() { print FILES; }
		_call_program() { shift; "$@"; }
		words=("$@"); CURRENT=$#; PREFIX=${words[CURRENT]}
		source contrib/completion/_resolverd' zsh "$@" | LC_ALL=C sort -u | tr '\n' ' '
}
zcompletes()
{
	local want=$1 got
	shift
	got=$(zoffers "$@" 2>&1)
	[ "$got" = "$want" ] || fail "zsh: $*: offered '$got', not '$want'"
}
if command -v zsh >/dev/null; then
	zcompletes 'stats stats_noreset status ' resolver-control stat
	zcompletes 'num-threads ' resolver-control get_option num-t
	zcompletes 'no yes ' resolver-control set_option prefetch: ''
	zcompletes 'always_nodata always_null always_nxdomain ' resolver-control -q local_zone x.example always_n
	zcompletes 'view-first ' resolver-checkconf -o view-f
	zcompletes '--from-unbound ' resolver-checkconf --from
	zcompletes 'FILES ' resolverd -c ''
fi
exit $failed
