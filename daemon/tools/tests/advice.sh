#!/bin/sh
# Claims about resolver-checkconf's advice: what it warns of, and what it tells who comes from Unbound.
# SPDX-License-Identifier: BSD-3-Clause
tool=${top_builddir:-.}/resolver-checkconf
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0

fail()
{
	echo "FAIL: $*"
	sed 's/^/	/' "$dir/out"
	failed=1
}

# warns WHY LINE PATTERN: of the configuration on the input; --strict makes it an error. No LINE: of nothing.
warns()
{
	cat >"$dir/a.conf"
	"$tool" ${how-} "$dir/a.conf" >"$dir/out" 2>&1 || {
		grep -q 'this program was built without' "$dir/out" && return 0
		fail "$1: warnings alone end with 0"
	}
	if test -n "$2"; then
		grep -q "^$dir/a.conf:$2: warning: .*$3" "$dir/out" || fail "$1: line $2 is warned of"
		test "$(grep -c warning: "$dir/out")" = 1 || fail "$1: once, and of nothing else"
		"$tool" ${how-} --strict "$dir/a.conf" >"$dir/out" 2>&1 && fail "$1: --strict ends with 1"
	else
		grep -q warning: "$dir/out" && fail "$1: is nothing to warn of"
		"$tool" ${how-} --strict -q "$dir/a.conf" >"$dir/out" 2>&1 || fail "$1: nor with --strict"
	fi
	return 0
}

# ---- times ----
warns "a least that is more than the most" 2 infra-cache-max-rtt <<END
server:
	infra-cache-min-rtt: 5000
	infra-cache-max-rtt: 1000
END

# ---- who may ask ----
warns "an open resolver" 3 "access-control: 0.0.0.0/0 allow" <<END
server:
	interface: 0.0.0.0
	access-control: 0.0.0.0/0 allow
END
warns "one in two halves" 3 access-control <<END
server:
	interface: 198.51.100.1
	access-control: 0.0.0.0/1 allow_snoop
END
warns "one with a limit for each client" "" <<END
server:
	interface: 0.0.0.0
	access-control: 0.0.0.0/0 allow
	ip-ratelimit: 100
END
warns "one that wants cookies" "" <<END
server:
	interface: ::0
	access-control: ::/0 allow_cookie
END
warns "one that nobody outside reaches" "" <<END
server:
	interface: 192.168.1.1
	interface: fd00::1
	access-control: 0.0.0.0/0 allow
END
warns "all private addresses" "" <<END
server:
	interface: ::0
	access-control: 10.0.0.0/8 allow
	access-control: fc00::/7 allow
END
warns "PROXY headers of anybody" 3 proxy-protocol-from <<END
server:
	interface: 192.0.2.1@1053
	proxy-protocol-port: 1053
END
warns "PROXY headers of one host" "" <<END
server:
	interface: 192.0.2.1@1053
	proxy-protocol-port: 1053
	proxy-protocol-from: 192.0.2.2
END
warns "HTTP in clear" 3 "http-notls-downstream" <<END
server:
	interface: 192.0.2.1@443
	http-notls-downstream: yes
END

# ---- channels ----
warns "commands in clear from elsewhere" 3 "control-interface: 10.1.2.3: with control-use-cert" <<END
remote-control:
	control-enable: yes
	control-interface: 10.1.2.3
	control-use-cert: no
END
warns "an address behind a path" 4 "the first control-interface: is a path" <<END
remote-control:
	control-enable: yes
	control-interface: /run/x
	control-interface: 0.0.0.0
END
warns "commands in clear on this host" "" <<END
remote-control:
	control-enable: yes
	control-interface: 127.0.0.1
	control-interface: ::1
	control-use-cert: no
END
warns "metrics for the world" 3 metrics-interface <<END
metrics:
	metrics-enable: yes
	metrics-interface: 203.0.113.9
END

# ---- caches ----
warns "a size without its letter" 2 "is a k, m or g missing" <<END
server:
	msg-cache-size: 64
END
warns "a tiny cache" 2 "so small" <<END
server:
	rrset-cache-size: 16k
END
warns "the caches of a small router" "" <<END
server:
	msg-cache-size: 128k
	rrset-cache-size: 256k
END
warns "names that are kept for a day" 2 "cache-min-ttl" <<END
server:
	cache-min-ttl: 86400
END

# ---- validation ----
anchor='trust-anchor: ". IN DS 20326 8 2 e06d44b80b8f1d39a95c0b0d7c65d08458e880409bbc683457104237c7f8ec8d"'
warns "a validator without anchor" 2 "no trust anchor" <<END
server:
	module-config: "validator iterator"
	auto-trust-anchor-file: ""
END
warns "the anchor that is there by default" "" <<END
server:
	module-config: "validator iterator"
END
warns "an anchor without validator" 3 "without validator" <<END
server:
	$anchor
	module-config: "iterator"
END
warns "no wish to validate" "" <<END
server:
	module-config: "iterator"
END
warns "forged answers that pass" 3 val-permissive-mode <<END
server:
	$anchor
	val-permissive-mode: yes
END
warns "old signatures" 3 val-clock-tolerance <<END
server:
	$anchor
	val-override-date: -1
END
warns "signatures that may be missing" 3 harden-dnssec-stripped <<END
server:
	$anchor
	harden-dnssec-stripped: no
END
warns "the root as insecure" 3 "nothing at all" <<END
server:
	$anchor
	domain-insecure: "."
END

# ---- other servers ----
warns "a forwarder on this host that is never asked" 3 do-not-query-localhost <<END
forward-zone:
	name: "."
	forward-addr: 127.0.0.1@5353
END
warns "one that is" "" <<END
server:
	do-not-query-localhost: no
stub-zone:
	name: "example"
	stub-addr: ::1
END
warns "TLS with whoever answers" 4 "without #name" <<END
forward-zone:
	name: "."
	forward-tls-upstream: yes
	forward-addr: 192.0.2.1@853
END
warns "TLS with a name" "" <<END
forward-zone:
	name: "."
	forward-tls-upstream: yes
	forward-addr: 192.0.2.1@853#dns.example
END
warns "TLS, and else in clear" 1 "in clear" <<END
forward-zone:
	name: "."
	forward-tls-upstream: yes
	forward-first: yes
	forward-addr: 192.0.2.1@853#dns.example
END
warns "glue of anybody" 2 harden-glue <<END
server:
	harden-glue: no
END

# ---- files ----
printf '%032d\n' 0 >"$dir/cookies"
chmod 644 "$dir/cookies"
warns "a secret anybody may read" 2 "may read '$dir/cookies'" <<END
server:
	cookie-secret-file: "$dir/cookies"
END
chmod 600 "$dir/cookies"
warns "a secret nobody else may read" "" <<END
server:
	cookie-secret-file: "$dir/cookies"
END
warns "a secret in a file anybody may read" 1 "may read the secret" <<END
key:
	name: "k"
	secret: "c2VjcmV0"
END
how=--no-files
warns "nothing of files with --no-files" "" <<END
key:
	name: "k"
	secret: "c2VjcmV0"
END
how=
printf "server:\n\tport: 53\n" >"$dir/w.conf"
chmod 666 "$dir/w.conf"
"$tool" "$dir/w.conf" >"$dir/out" 2>&1
grep -q "^$dir/w.conf: warning: everybody on this host may change this file" "$dir/out" ||
	fail "a configuration anybody may change"

# ---- from Unbound ----

# explains WHY STATUS PATTERN...: of $dir/u.conf; each pattern has its line.
explains()
{
	why=$1 status=$2
	shift 2
	"$tool" --from-unbound "$dir/u.conf" >"$dir/out" 2>&1
	got=$?
	test "$got" = "$status" || fail "$why: ended with $got, not $status"
	for pattern; do
		grep -q -e "$pattern" "$dir/out" || fail "$why: '$pattern'"
	done
}

cat >"$dir/u.conf" <<END
server:
	verbosity: 1
	num-threads: 4
	include: "$dir/part.conf"
END
cat >"$dir/part.conf" <<END
	private-address: 10.0.0.0/8
	private-address: 192.168.0.0/16
	msg-cache-size: 64m
END
explains "all of it fits" 0 "^The same:" "^  line 2: verbosity: 1$" "^  line 3: num-threads: 4$" "^Better here:" \
	"^  $dir/part.conf:1: private-address: 10.0.0.0/8  (and 1 more)$" "^  $dir/part.conf:3: msg-cache-size: 64m$" \
	"^  chroot: \"\"  (Unbound: " "^2 the same, 2 better here, 0 not there, 0 refused$"
cat >"$dir/u.conf" <<END
server:
	module-config: "python validator iterator"
	dlv-anchor: "x"
	local-zone: "x.example" ipset
python:
	python-script: "a.py"
END
explains "some of it has no effect" 2 "^Not there:" "^  line 6: python-script: a.py" "blocklist: reads their lists" \
	"u.conf:2: module-config: python is accepted and has no effect here" "u.conf:4: local-zone: a zone of type ipset is like a transparent one" \
	" 4 not there, 0 refused$"
cat >"$dir/u.conf" <<END
server:
	module-config: "python iterator"
	chroot: "$dir"
python:
	python-script: "unbound-dnsbl/dnsbl_module.py"
END
"$tool" "$dir/u.conf" >"$dir/out" 2>&1
grep -q "u.conf:5: notice: python-script: what dnsbl_module.py would block .*(data/dnsbl.json) .* 'opnsense'" "$dir/out" ||
	fail "the lists of a known script"
printf 'blocklist:\n\tname: "own"\n\tfile: "/data/dnsbl.json"\n' >>"$dir/u.conf"
"$tool" "$dir/u.conf" >"$dir/out" 2>&1
grep -q "'opnsense'" "$dir/out" && fail "the lists of a known script that are named already"
cat >"$dir/u.conf" <<END
server:
	port: 53
	porrt: 53
	port: many
forward-zone:
	forward-addr: 192.0.2.1
END
explains "some of it is refused" 1 "^Refused:" "u.conf:3: porrt: unknown option .*is port meant" "u.conf:4: port: 'many'" \
	" 2 refused$"
cat >"$dir/u.conf" <<END
server:
	include: "$dir/missing.conf"
	interface: 0.0.0.0
	access-control: 0.0.0.0/0 allow
END
explains "what cannot be read, and what is dangerous" 0 "^To look at" "missing.conf" "u.conf:4: access-control"
rm "$dir/u.conf"
explains "no file" 1 "cannot read" " 1 refused$"
exit $failed
