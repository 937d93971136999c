#!/bin/bash
# The guides, followed: what a page has one configure starts and answers, with its commands, in a network of its own.
# SPDX-License-Identifier: BSD-3-Clause
build=$(cd "${top_builddir:-.}" && pwd)
sources=$(cd "${srcdir:-.}" && pwd)
if [ "${GUIDES_INSIDE:-}" != yes ]; then
	flags=-n
	[ "$(id -u)" -eq 0 ] || flags=-rn
	unshare "$flags" sh -c 'ip link set lo up' 2>/dev/null ||
		{ echo "guides.sh: there can be no network of its own here"; exit 77; }
	# shellcheck disable=SC2016
	GUIDES_INSIDE=yes exec unshare "$flags" sh -c 'ip link set lo up && exec "$@"' sh bash "$0"
fi
cd "$sources" || exit 1
grep -q . /proc/net/if_inet6 || { echo "guides.sh: there is no IPv6 here"; exit 77; }
command -v openssl >/dev/null || { echo "guides.sh: there is no openssl"; exit 77; }
dir=$(mktemp -d) || exit 1
daemon=
finish() {
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null
	rm -rf "$dir"
}
trap finish EXIT
failed=0
fail() { echo "FAIL: $*"; failed=1; }
control() { timeout 30 "$build/resolver-control" -c "$dir/a.conf" "$@"; }

# configuration PAGE [NUMBER]: the first one, or that, its addresses and folders those of this test.
configuration()
{
	awk -v number="${2:-1}" '/^```conf/ && ++count == number { on = 1; next } /^```/ && on { exit } on' "$1" |
		sed -e '/^ *username:/d' -e "s|/var/lib/resolver/|$dir/|; s|/etc/resolver/|$dir/|" \
			-e "s|/run/resolverd/control|$dir/run/control|" \
			-e "s|/var/lib/misc/|$dir/|; s|/tmp/hosts/|$dir/hosts/|; s|metrics-interface: .*|metrics-interface: 127.0.0.1|" \
			-e 's/interface: [1-9][0-9.]*$/interface: 127.0.0.1/; s/interface: [0-9a-f]*:[0-9a-f:]*$/interface: ::1/' \
			-e 's/interface: [0-9.]*@/interface: 127.0.0.1@/'
	printf 'server:\n    username: ""\n    pidfile: "%s/pid"\n    use-syslog: no\n    directory: "%s"\n' "$dir" "$dir"
}
# start PAGE: its a.conf; the log is $dir/log. The folder of the control socket is made.
start()
{
	if "$build/resolver-checkconf" "$dir/a.conf" 2>&1 | grep -q 'this program was built without'; then
		echo "$1: not followed, a part of it was left out of this build"
		return 1
	fi
	rm -rf "$dir/run"
	timeout 60 "$build/resolverd" -d -c "$dir/a.conf" >"$dir/log" 2>&1 &
	daemon=$!
	for _ in {1..200}; do
		[ ! -S "$dir/run/control" ] || ! control status >"$dir/said" 2>&1 || return 0
		kill -0 "$daemon" 2>/dev/null || break
		sleep 0.1
	done
	fail "$1: the daemon does not start: $(tail -n 3 "$dir/log")"
	return 1
}
stop()
{
	kill "$daemon" 2>/dev/null
	wait "$daemon" || fail "$1: it did not end well"
	daemon=
}
resident_kb() { awk '/^VmRSS/ { print $2 }' "/proc/$(cat "$dir/pid")/status"; }
# commands PAGE COUNT: those of its own lines, word for word, and not fewer; each ends well, and says something. Programs
# of this build are found by their names, with this test's configuration in the place of the system's.
mkdir "$dir/programs"
for program in resolver-control resolver-host resolver-anchor; do
	case $program in resolver-control) how="-c $dir/a.conf" ;; resolver-host) how="-C $dir/a.conf" ;; *) how= ;; esac
	printf '#!/bin/sh\nexec timeout 30 "%s" %s "$@"\n' "$build/$program" "$how" >"$dir/programs/$program"
done
printf '#!/bin/sh\nfor last; do :; done\n[ "$last" = /etc/resolver/resolver.conf ] || exit 9\nexec "%s" -q "%s"\n' \
	"$build/resolver-checkconf" "$dir/a.conf" >"$dir/programs/resolver-checkconf"
chmod +x "$dir"/programs/*
commands()
{
	local line count=0
	while IFS= read -r line; do
		count=$((count + 1))
		(PATH=$dir/programs:$PATH && eval "$line") >"$dir/said" 2>&1
		case $?:$line in
		0:*) [ -s "$dir/said" ] || fail "$1: $line: says nothing" ;;
		1:resolver-host*) grep -q 'There is no answer' "$dir/said" || fail "$1: $line: $(cat "$dir/said")" ;; # nobody is here
		*) fail "$1: $line: $(cat "$dir/said")" ;;
		esac
	done < <(sed -n 's/^    \(resolver-[a-z]* .*\)/\1/p' "$1")
	[ "$count" -ge "$2" ] || fail "$1: only $count commands were found"
}
# page PATH: what the daemon's pages have there.
page()
{
	exec 9<>/dev/tcp/127.0.0.1/9167 || return 1
	printf 'GET %s HTTP/1.0\r\n\r\n' "$1" >&9
	timeout 10 cat <&9
	exec 9>&-
}
# metrics_named PAGE: those that it has one watch are measured.
metrics_named()
{
	local name
	page /metrics >"$dir/metrics" || fail "$1: no metrics"
	for name in $(grep -oE 'resolverd_[a-z_]+' "$1" | sort -u); do
		grep -q "^# TYPE $name " "$dir/metrics" || fail "$1: there is no metric $name"
	done
	page /healthz >"$dir/said"
	grep -qE '^HTTP/1.[01] (200|503) ' "$dir/said" || fail "$1: /healthz: $(head -n 1 "$dir/said")"
}
says() { control "$@" >"$dir/said" 2>&1 && [ -s "$dir/said" ] || fail "resolver-control $*: $(cat "$dir/said")"; }

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=guides \
	-keyout "$dir/dns.key" -out "$dir/dns.pem" 2>/dev/null || fail "openssl"
"$build/resolver-anchor" -a "$dir/root.key" >/dev/null
: >"$dir/dnsmasq.leases"

# ---- doc/router.md ----

configuration doc/router.md >"$dir/a.conf"
grep -q "interface: 127.0.0.1" "$dir/a.conf" || fail "doc/router.md has no configuration"
"$build/resolver-checkconf" "$dir/a.conf" >"$dir/said" 2>&1 || fail "doc/router.md: $(cat "$dir/said")"
if start doc/router.md; then
	commands doc/router.md 5
	stop doc/router.md
fi
# The forwarder of the same page, beside it: nothing answers there, and it says so.
{ cat "$dir/a.conf"; configuration doc/router.md 2; } >"$dir/b.conf" && mv "$dir/b.conf" "$dir/a.conf"
if start doc/router.md; then
	says list_forwards
	says lookup www.example.com
	grep -q '192.0.2.53' "$dir/said" || fail "doc/router.md: what is forwarded: $(cat "$dir/said")"
	stop doc/router.md
fi
# OpenWrt's.
{
	configuration doc/router.md 3
	printf 'remote-control:\n    control-enable: yes\n    control-interface: %s/run/control\n' "$dir"
} >"$dir/a.conf"
grep -q "odhcpd" "$dir/a.conf" || fail "doc/router.md has no configuration for OpenWrt"
mkdir -p "$dir/hosts" && : >"$dir/hosts/odhcpd"
if start doc/router.md; then
	says lease_status
	stop doc/router.md
fi

# ---- doc/isp.md ----

configuration doc/isp.md >"$dir/a.conf"
grep -q "num-threads: 16" "$dir/a.conf" || fail "doc/isp.md has no configuration"
ulimit -n 4096
if start doc/isp.md; then
	grep -q "may need 163536:" "$dir/log" || fail "doc/isp.md: descriptors: $(grep 'may need' "$dir/log")"
	if ! grep -q __asan_init "$build/resolverd" && ! grep -q __tsan_init "$build/resolverd"; then
		resident=$(resident_kb)
		[ "$resident" -lt 18000 ] || fail "doc/isp.md: a new process has $resident kB, not 13 MB"
	fi
	commands doc/isp.md 2
	# Those in its sentences.
	says list_anchors
	says set_option msg-cache-size: 4g
	says flush_zone example.com
	says flush www.example.com
	says flush_type www.example.com A
	says cache_save
	says dump_cache
	cp "$dir/said" "$dir/dump"
	says load_cache <"$dir/dump"
	control ratelimit_list >"$dir/said" 2>&1 || fail "ratelimit_list"
	metrics_named doc/isp.md
	stop doc/isp.md
fi

# ---- doc/install.md: the configuration that is installed ----

sed -e "s|\"[^\"]*/root.key\"|\"$dir/root.key\"|; s|control-interface: .*|control-interface: \"$dir/run/control\"|" \
	-e '/^include-toplevel/d' "$build"/contrib/resolver.conf "$build"/contrib/unbound.conf 2>/dev/null >"$dir/a.conf"
printf 'server:\n    username: ""\n    pidfile: ""\n    use-syslog: no\n    directory: "%s"\n' "$dir" >>"$dir/a.conf"
if start doc/install.md; then
	grep -q 'is running' "$dir/said" || fail "doc/install.md: $(cat "$dir/said")"
	stop doc/install.md
fi
exit $failed
