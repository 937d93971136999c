#!/bin/sh
# Claims about resolver-checkconf as a program: what it prints where, and how it ends.
# SPDX-License-Identifier: BSD-3-Clause
tool=${top_builddir:-.}/resolver-checkconf
srcdir=${srcdir:-.}
conf=$srcdir/testdata/conf
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0

# claim WHY STATUS OUT ERR ARGUMENT...: OUT and ERR are patterns of grep, "" is no output at all.
claim()
{
	why=$1 status=$2 out=$3 err=$4
	shift 4
	"$tool" "$@" >"$dir/out" 2>"$dir/err"
	got=$?
	for stream in out err; do
		eval "want=\$$stream"
		if test -z "$want"; then
			test ! -s "$dir/$stream"
		else
			grep -q -e "$want" "$dir/$stream"
		fi || { got="$got, not '$want' on $stream"; sed 's/^/	/' "$dir/$stream"; }
	done
	if test "$got" != "$status"; then
		echo "FAIL: $why: ended with $got, not $status"
		failed=1
	fi
}

mkdir "$dir/jail"
cat >"$dir/jailed.conf" <<END
server:
	chroot: "$dir/jail"
	directory: "/"
	username: ""
	pidfile: "x.pid"
	interface: 127.0.0.1
	interface: ::1
	num-threads: 3
END
printf 'server:\n\tlogfile: "/does/not/exist/x"\n\tinclude: "/does/not/exist/y"\n' >"$dir/missing.conf"

claim "a good file" 0 "no errors in $dir/jailed.conf" "" "$dir/jailed.conf"
claim "and quietly" 0 "" "" -q "$dir/jailed.conf"
claim "a file that is not there" 1 "" "^/does/not/exist: error: cannot read" /does/not/exist
claim "nor with --no-files" 1 "" "error: cannot read" --no-files /does/not/exist
claim "a folder" 1 "" "error: cannot read" "$dir"
claim "errors with file and line" 1 "" "words.conf:4: error: recursion: unknown" "$conf/bad/words.conf"
claim "all of them" 1 "" "words.conf:1[0-9]: error:" "$conf/bad/words.conf"
claim "missing things" 1 "" "missing.conf:3: error: include: cannot read" "$dir/missing.conf"
claim "missing things and --no-files" 0 "no errors" "missing.conf:3: warning" --no-files "$dir/missing.conf"
claim "a part without a clause" 1 "" "access.part:2: error: access-control: stands in no clause" \
	"$conf/good/conf.d/access.part"
claim "what has no effect" 0 "no errors" "good/all-forms.conf:[0-9]*: notice: module-config: python" \
	--no-files "$conf/good/all-forms.conf"
has() { grep -q "^#define HAVE_$1 1" "${top_builddir:-.}/config.h"; }
# part NAME WHY CONFIGURATION PATTERN: good where config.h has that part; else an error matches the pattern.
part()
{
	printf '%b' "$3" >"$dir/part.conf"
	if has "$1"; then
		claim "$2" 0 "no errors" "" --no-files "$dir/part.conf"
	else
		claim "$2 where it was left out" 1 "" "part.conf:$4" --no-files "$dir/part.conf"
	fi
}
lacks="this program was built without .* (see configure --disable"
part DNSTAP dnstap 'dnstap:\n dnstap-enable: yes\n dnstap-log-client-query-messages: yes\n' "2: error: dnstap-enable: $lacks-dnstap)"
part DOH "DNS over HTTPS" 'server:\n interface: 127.0.0.1@853\n interface: 127.0.0.1@443\n' \
	"3: error: interface: '127.0.0.1@443' .* $lacks-doh)"
part DOH "DNS over HTTPS to servers" \
	'forward-zone:\n name: a\n forward-addr: 192.0.2.1#a.example\n forward-https-upstream: yes\n' \
	"1: error: forward-https-upstream: $lacks-doh)"
part PAGES pages 'metrics:\n metrics-enable: yes\n' "2: error: metrics-enable: $lacks-pages)"
part AUTH_ZONES "a zone held in full" 'auth-zone:\n name: a\n zonefile: b\n' "1: error: auth-zone: $lacks-auth-zones)"
part AUTH_ZONES "a policy zone" '\nrpz:\n name: a\n zonefile: b\n' "2: error: rpz: $lacks-auth-zones)"
part AUTH_ZONES "a key for transfers" 'key:\n name: a\n secret: "aaaa"\n' "1: error: key: $lacks-auth-zones)"
part HISTORY "the ring of queries" 'server:\n query-ring: 9\n' "2: error: query-ring: $lacks-history)"
part HISTORY "lists of what is asked most" 'server:\n top-lists: 9\n' "2: error: top-lists: $lacks-history)"
part HISTORY "queries in a pipe" 'server:\n query-pipe: a\n' "2: error: query-pipe: $lacks-history)"
part LEASES "leases" '\n\ndhcp-leases:\n file: a\n' "3: error: dhcp-leases: $lacks-leases)"
part LEASES "a hosts file" 'server:\n hosts-file: a\n hosts-file: b\n' "2: error: hosts-file: $lacks-leases)"
part CACHEFILE "the cache file" 'server:\n cache-file: a\n' "2: error: cache-file: $lacks-cachefile)"
part CACHEDB cachedb 'server:\n module-config: "cachedb iterator"\n' "2: error: module-config: $lacks-cachedb)"
part DNS64 DNS64 'server:\n module-config: "dns64 iterator"\n' "2: error: module-config: $lacks-dns64)"
part SUBNET "client subnets" 'server:\n module-config: "subnetcache iterator"\n' "2: error: module-config: $lacks-subnet)"
printf 'server:\n\tquery-ring: 0\n\tquery-pipe: ""\n\tcache-file: ""\n\tmodule-config: "iterator"\nmetrics:\n\tmetrics-enable: no\n' >"$dir/off.conf"
claim "a part that is off may be left out" 0 "no errors" "" --no-files "$dir/off.conf"
# What only a look into the files tells: a daemon would not start with these.
echo "this is no key" >"$dir/no.key"
printf 'server:\n\ttrust-anchor-file: "%s"\n' "$dir/no.key" >"$dir/anchor.conf"
printf 'server:\n\troot-hints: "%s"\n' "$dir/no.key" >"$dir/hints.conf"
printf 'server:\n\tlocal-data: "x. BOGUS y"\n' >"$dir/data.conf"
printf 'auth-zone:\n\tname: a.example\n\tzonefile: "%s"\n' "$dir/no.key" >"$dir/zone.conf"
claim "an anchor file that holds none" 1 "" "anchor.conf:2: error: trust-anchor-file: .*no.key:1" "$dir/anchor.conf"
claim "hints that are none" 1 "" "error: root-hints: .*no.key" "$dir/hints.conf"
claim "records of no type there is" 1 "" "data.conf:2: error: local-data: .*BOGUS" "$dir/data.conf"
has AUTH_ZONES && {
claim "a zone that cannot be read stops no start" 0 "no errors" "^error: auth-zone a.example.: .*no.key:1" "$dir/zone.conf"
claim "but counts where warnings do" 1 "" "^error: auth-zone a.example." --strict "$dir/zone.conf"
}
printf 'server:\n\tchroot: "%s"\n\ttls-cert-bundle: "%s"\n' "$dir/jail" "$dir/no.key" >"$dir/outside.conf"
claim "authorities outside the chroot are found" 1 "" "error: tls-cert-bundle: .*no certificate" "$dir/outside.conf"
printf 'forward-zone:\n\tname: a\n\tforward-addr: 192.0.2.1\n\tname: b\n' >"$dir/two.conf"
claim "a clause with two names" 1 "" "two.conf:4: error: name: this clause has one already" "$dir/two.conf"
claim "a value" 0 "^3\$" "" -o num-threads "$dir/jailed.conf"
claim "a list" 0 "^::1\$" "" -o interface "$dir/jailed.conf"
claim "a path" 0 "^x.pid\$" "" -o pidfile "$dir/jailed.conf"
claim "a whole path" 0 "^$dir/jail/x.pid\$" "" -f -o pidfile "$dir/jailed.conf"
claim "an empty value" 0 "^\$" "" -o logfile "$dir/jailed.conf"
claim "no such option" 1 "" "there is no option 'pid-file'" -o pid-file "$dir/jailed.conf"
claim "all options" 0 "^server	num-threads	works	1	start\$" "" --list-options
claim "other spellings too" 0 "^server	ssl-port	[a-z]*	853\$" "" --list-options
claim "help" 0 "^usage: resolver-checkconf" "" -h
claim "an option of the program nobody knows" 1 "" "usage: " --what

printf 'server:\n\tusername: "" directory: "/"\n\tlocal-zone: a.test static\n\tlocal-zone: "A.test." refuse\n\tlocal-zone: b.test nodefault\n\tlocal-zone: b.test deny\n' \
	>"$dir/twice.conf"
claim "a local zone that is there already" 0 "no errors" "twice.conf:4: warning: .*'a.test static' at .*twice.conf:3" \
	"$dir/twice.conf"
test "$(wc -l <"$dir/err")" = 1 || { echo "FAIL: and no other"; failed=1; }
{
	echo server:
	seq -f 'local-zone: x%.0f.test always_nxdomain' 1500
	printf 'local-zone: x%s.test %s\n' 1 static 1400 transparent 1401 static
} >"$dir/many.conf"
claim "three among very many" 0 "no errors" "warning: local-zone: 3 lines name a zone that another line names" "$dir/many.conf"

printf 'server:\n\tinterface: 127.0.0.1\n\tinterface: nowhere0\n' >"$dir/nowhere.conf"
claim "an interface this host lacks" 0 "no errors" \
	"^$dir/nowhere.conf:3: warning: interface: nowhere0 is neither .*: a start would fail" "$dir/nowhere.conf"
claim "which is a matter of this host" 0 "no errors" "" --no-files "$dir/nowhere.conf"
printf 'server: username: "" directory: "/"\nforward-zone:\n\tname: a\n\tforward-addr: 192.0.2.1#5353\n\tforward-addr: 192.0.2.1@53#5.example\n' >"$dir/port.conf"
claim "a port written as dnsmasq has it" 0 "no errors" "port.conf:4: warning: forward-addr: .* a port follows @" "$dir/port.conf"
test "$(wc -l <"$dir/err")" = 1 || { echo "FAIL: a name is no port"; failed=1; }

# Lists are printed as Unbound prints them: most from the last to the first.
while read -r option first second; do
	printf 'remote-control: control-enable: no\nserver:\n%s: "%s"\n%s: "%s"\n' "$option" "$first" "$option" "$second" |
		sed '/^control-interface/s/^/remote-control: /;/^python-script/s/^/python: /;/^dynlib-file/s/^/dynlib: /' >"$dir/order.conf"
	"$tool" -o "$option" "$dir/order.conf" >"$dir/out"
	case $option in private-address) set -- "$second" "$first" ;; *) set -- "$first" "$second" ;; esac
	printf '%s\n' "$@" | cmp -s - "$dir/out" || { echo "FAIL: the order of $option"; failed=1; }
done <<END
interface 127.0.0.1 127.0.0.2
outgoing-interface 127.0.0.1 127.0.0.2
control-interface 127.0.0.1 127.0.0.2
tls-session-ticket-keys /a /b
python-script /a /b
dynlib-file /a /b
private-address 10.0.0.0/8 192.0.2.0/24
END

# Records, zones and tags are understood only when a start is rehearsed: even so the line is told.
while read -r line; do
	printf 'server: define-tag: "a"\naccess-control: 10.0.0.0/8 allow\n%s\n' "$line" >"$dir/late.conf"
	claim "the line of $line" 1 "" "^$dir/late.conf:3: error: " "$dir/late.conf"
done <<END
local-data: "a.test. SAND x"
local-data-ptr: "192.0.2.1 a.test 60"
local-zone: "a b" static
local-zone: a.test redirect local-data: "b.a.test. A 192.0.2.1"
local-zone-tag: a.test a
local-zone-override: a.test 10.0.0.0/8 deny
access-control-tag-data: 10.0.0.0/8 a "SAND x"
interface-tag-data: 127.0.0.1 a "SAND x"
response-ip-data: 10.0.0.0/8 "SAND x"
response-ip-data: 10.0.0.0/8 "A 192.0.2.1"
view: name: v local-data: "a.test. SAND x"
view: name: v response-ip-data: 10.0.0.0/8 "SAND x"
END

"$tool" --example >"$dir/example" && cmp "$dir/example" "$srcdir/resolver.conf.example" || {
	echo "FAIL: resolver.conf.example is old: renew it with resolver-checkconf --example"
	failed=1
}
claim "the example" 0 "no errors" "" --no-files "$dir/example"
exit $failed
