#!/bin/sh
# Claims about what a system runs the daemon with: units, init scripts and hooks.
# SPDX-License-Identifier: BSD-3-Clause
#
# Programs that a claim needs and that are not here (systemd-analyze, shellcheck) are named at the end.
set -u
srcdir=$(cd "${srcdir:-.}" && pwd)
builddir=$(cd "${top_builddir:-.}" && pwd)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0 missing=

fail() {
	echo "FAIL: $*"
	failed=1
}

# claim WHY COMMAND...: it ends with 0; what it prints is shown when it does not.
claim() {
	why=$1
	shift
	"$@" >"$dir/said" 2>&1 || {
		fail "$why"
		sed 's/^/	/' "$dir/said"
	}
}

# ---- every script is one ----

scripts="$srcdir/contrib/freebsd/files/resolverd.in $srcdir/contrib/openwrt/resolverd/files/resolverd.init
	$srcdir/contrib/openwrt/resolverd/files/uci.sh
	$builddir/contrib/openrc/*.initd $builddir/contrib/resolvconf/* $builddir/resolver-control-setup $builddir/contrib/root-key
	$srcdir/contrib/debian/package/*.post*"
# Itself and its neighbour, too.
scripts="$scripts $srcdir/contrib/tests/names.sh $srcdir/contrib/tests/services.sh $srcdir/contrib/tests/version.sh"
bash_scripts="$srcdir/contrib/debian/build $srcdir/contrib/debian/try"
for script in $scripts; do
	claim "$script is a shell script" sh -n "$script"
done
for script in $bash_scripts; do
	! command -v bash >/dev/null || claim "$script is a shell script" bash -n "$script"
done
if command -v shellcheck >/dev/null; then
	for script in $scripts $bash_scripts; do
		claim "shellcheck has nothing to say of $script" shellcheck -S warning -x -P "$srcdir" "$script"
	done
else
	missing="$missing shellcheck"
fi

for made in "$builddir"/contrib/systemd/* "$builddir"/contrib/openrc/* "$builddir"/contrib/resolvconf/* \
	"$builddir"/contrib/*.conf "$builddir/contrib/root-key"; do
	case $made in *.in) continue ;; esac # of a build in the sources
	if grep -n '@[a-z_]*@' "$made"; then
		fail "$made has a word that nobody filled in"
	fi
done

# ---- systemd ----

if command -v systemd-analyze >/dev/null; then
	# Programs and folders that are not installed yet stand for themselves.
	for unit in "$builddir"/contrib/systemd/*.service "$builddir"/contrib/systemd/*.socket; do
		sed -e "s#=\(-\{0,1\}\)[^ ]*/\(sbin\|libexec\)/[^ ]*#=\1$(command -v true)#" \
			-e "s#/bin/kill#$(command -v true)#" -e '/^Documentation=/d' \
			"$unit" >"$dir/$(basename "$unit")"
	done
	for unit in "$dir"/*.service "$dir"/*.socket; do
		claim "systemd understands $(basename "$unit")" systemd-analyze verify --man=no "$unit"
		# Options it does not know are told, and still end with 0.
		! grep -q "$(basename "$unit"):" "$dir/said" || {
			fail "systemd has something to say of $(basename "$unit")"
			cat "$dir/said"
		}
	done
	# Exposure, in tenths of ten: below 25 the tool calls it good. As root from the start it is more.
	most=20
	test ! -f "$dir/unbound.service" || most=40
	for unit in "$dir"/*.service; do
		claim "$(basename "$unit") is confined" \
			systemd-analyze security --offline=yes --no-pager --threshold="$most" "$unit"
		grep 'Overall exposure' "$dir/said"
	done
else
	missing="$missing systemd-analyze"
fi

# With a root of one's own, nothing of this machine is touched.
if command -v systemd-sysusers >/dev/null && command -v systemd-tmpfiles >/dev/null; then
	mkdir -p "$dir/root/etc" "$dir/root/usr/lib"
	for file in "$builddir"/contrib/systemd/*.sysusers; do
		claim "the user is made" systemd-sysusers --root="$dir/root" "$file"
		user=$(awk '$1 == "u" { print $2 }' "$file")
		grep -q "^$user:.*:/usr/sbin/nologin$" "$dir/root/etc/passwd" || fail "there is no user $user"
		grep -q "^$user:" "$dir/root/etc/group" || fail "there is no group $user"
	done
	if [ "$(id -u)" -eq 0 ]; then
		for file in "$builddir"/contrib/systemd/*.tmpfiles; do
			claim "the folders are made" systemd-tmpfiles --root="$dir/root" --create "$file"
			for folder in $(awk '$1 == "d" { print $2 }' "$file"); do
				test -d "$dir/root$folder" || fail "there is no $folder"
			done
		done
	fi
else
	missing="$missing systemd-sysusers systemd-tmpfiles"
fi

# ---- the keys of the root ----

mkdir -p "$dir/keys"
sed -e "s|^key=.*|key=$dir/keys/root.key data=$dir/keys/data|" -e "s|^[^ ]*/resolver-anchor|$builddir/resolver-anchor|" \
	-e 's|id -u|echo 1|' "$builddir/contrib/root-key" >"$dir/root-key"
claim "without a package of keys those built in are written" sh "$dir/root-key"
grep -q 'DS 20326' "$dir/keys/root.key" || fail "and they are the root's"
cp "$dir/keys/root.key" "$dir/keys/data"
echo '; of the package' >>"$dir/keys/data"
touch -d '2020-01-01' "$dir/keys/root.key"
claim "a newer package counts" sh "$dir/root-key"
grep -q 'of the package' "$dir/keys/root.key" || fail "and is what is there then"
touch -d '2020-01-01' "$dir/keys/data"
echo '; of the daemon' >>"$dir/keys/root.key"
claim "an older package does not" sh "$dir/root-key"
grep -q 'of the daemon' "$dir/keys/root.key" || fail "and what the daemon keeps stays"

# ---- what a service would run: its framework is played ----

bin=$dir/bin
mkdir -p "$bin"
export PATH="$bin:$PATH"

# played NAME: a program that notes how it was called.
played() {
	printf '#!/bin/sh\necho "%s${*:+ $*}" >>"%s/calls"\n' "$1" "$dir" >"$bin/$1"
	chmod +x "$bin/$1"
}

# called WHY LINE...: these calls, and no other, have been made since the last time.
called() {
	why=$1
	shift
	for line; do
		printf '%s\n' "$line"
	done >"$dir/wanted"
	touch "$dir/calls"
	diff "$dir/wanted" "$dir/calls" >"$dir/said" || {
		fail "$why"
		sed 's/^/	/' "$dir/said"
	}
	: >"$dir/calls"
}

# resolvconf: which servers are handed on.
for hook in "$builddir"/contrib/resolvconf/*; do
	case $hook in *.in) continue ;; esac
	control=$(sed -n 's/^exec \([a-z-]*\) .*/\1/p' "$hook")
	played "$control"
	printf 'nameserver 192.0.2.1\n nameserver  2001:db8::1 # second\n' >"$dir/eth0"
	printf 'nameserver 127.0.0.1\nnameserver ::1\nnameserver 192.0.2.1\noptions edns0\n' >"$dir/lo"
	printf '#!/bin/sh\necho %s\necho %s\n' "$dir/eth0" "$dir/lo" >"$dir/list"
	chmod +x "$dir/list"
	# The hook sets its own PATH: the played program has to be found all the same.
	sed "s|^PATH=|&$bin:|" "$hook" >"$dir/hook"
	RESOLVCONF_LIST=$dir/list sh "$dir/hook"
	called "servers are handed on once, this machine is not" "$control -q forward 192.0.2.1 2001:db8::1"
	printf '#!/bin/sh\n' >"$dir/list"
	RESOLVCONF_LIST=$dir/list sh "$dir/hook"
	called "without servers there is no forwarding" "$control -q forward off"
	RESOLVCONF_LIST=$dir/absent sh "$dir/hook"
	called "without resolvconf nothing is done"
done

# OpenWrt: rc.common and procd.
cat >"$dir/procd" <<-'END'
	procd_open_instance() { echo "open $*"; }
	procd_set_param() { echo "param $*"; }
	procd_append_param() { echo "append $*"; }
	procd_close_instance() { echo close; }
	procd_add_reload_trigger() { echo "trigger $*"; }
	procd_send_signal() { echo "signal $*"; }
	logger() { echo "log $*"; }
END
played resolver-checkconf
played resolver-anchor
init=$srcdir/contrib/openwrt/resolverd/files/resolverd.init
openwrt() {
	(
		# shellcheck source=/dev/null
		. "$dir/procd"
		export CONFFILE="$dir/conf" STATEDIR="$dir/state" RUNDIR="$dir/run" BIN="$bin" OWNER='' UCI="${UCI:-$dir/none}"
		# shellcheck source=/dev/null
		. "$init"
		"$@"
	) >"$dir/answer" 2>&1
}
echo 'server:' >"$dir/conf"
openwrt start_service || fail "OpenWrt: the service starts: $(cat "$dir/answer")"
grep -q "^param command $bin/resolverd -d -p -c $dir/conf\$" "$dir/answer" || fail "OpenWrt: the command line"
grep -q '^param respawn' "$dir/answer" || fail "OpenWrt: it is started again"
called "OpenWrt: the configuration is looked at before the start" \
	"resolver-anchor -a $dir/state/root.key" "resolver-checkconf -q $dir/conf"
openwrt reload_service || fail "OpenWrt: it reloads"
grep -q '^signal resolverd .*HUP$' "$dir/answer" || fail "OpenWrt: a reload is a signal: $(cat "$dir/answer")"
called "OpenWrt: and before a reload" "resolver-checkconf -q $dir/conf"
printf '#!/bin/sh\nexit 1\n' >"$bin/resolver-checkconf"
openwrt reload_service && fail "OpenWrt: a wrong configuration is not loaded"
openwrt start_service && fail "OpenWrt: nor started with"
grep -q '^param command' "$dir/answer" && fail "OpenWrt: nor started with"
: >"$dir/calls"

# OpenWrt: the configuration made of UCI's files. Sections and options are lines "CONFIG SECTION TYPE [OPTION VALUE]".
cat >"$dir/uci" <<-'END'
	resolverd main resolverd port 5353
	resolverd main resolverd cache_mb 6
	resolverd main resolverd network lan
	resolverd dot forward tls 1
	resolverd dot forward server 192.0.2.53@853#dns.example
	resolverd ads blocklist file /etc/resolver/ads".txt
	dhcp dns dnsmasq domain home.arpa
	dhcp printer host name printer
	dhcp printer host ip 192.168.1.9
	dhcp nothing host name nothing
END
mkdir -p "$dir/functions"
: >"$dir/functions/network.sh"
cat >>"$dir/procd" <<-'END'
	config_load() { uci_file=$1; }
	config_get() {
		uci_value=$(sed -n "s!^$uci_file $2 [^ ]* $3 !!p" "$UCI" | head -n 1)
		eval "$1=\${uci_value:-\${4:-}}"
	}
	config_get_bool() { config_get "$@"; }
	config_list_foreach() {
		for uci_item in $(sed -n "s!^$uci_file $1 [^ ]* $2 !!p" "$UCI"); do "$3" "$uci_item"; done
	}
	config_foreach() {
		for uci_section in $(awk -v f="$uci_file" -v t="$2" '$1 == f && $3 == t && !seen[$2]++ { print $2 }' "$UCI"); do
			"$1" "$uci_section"
		done
	}
	network_get_subnets() { eval "$1=192.168.1.1/24"; }
	network_get_subnets6() { eval "$1=fd00:1::1/64"; }
	stop() { echo stopped; }
END
uci() {
	UCI=$dir/uci UCI_SH=$srcdir/contrib/openwrt/resolverd/files/uci.sh MADE=$dir/made/resolverd.conf FUNCTIONS=$dir/functions \
		openwrt "$@"
}
played resolver-checkconf
uci start_service || fail "OpenWrt: it starts by UCI's files: $(cat "$dir/answer")"
grep -q "^param command $bin/resolverd -d -p -c $dir/made/resolverd.conf\$" "$dir/answer" || fail "OpenWrt: with what was made of them"
for line in 'port: 5353' 'interface: 192.168.1.1' 'access-control: 192.168.1.1/24 allow' 'interface: fd00:1::1' \
	'rrset-cache-size: 5m' 'msg-cache-size: 3m' 'num-threads: 1' "auto-trust-anchor-file: $dir/state/root.key" \
	'private-address: 192.168.0.0/16' 'forward-tls-upstream: yes' 'forward-addr: 192.0.2.53@853#dns.example' \
	'file: "/etc/resolver/ads.txt"' 'file: "/tmp/dhcp.leases"' 'domain: "home.arpa"' \
	'local-data: "printer.lan. A 192.168.1.9"' 'local-data-ptr: "192.168.1.9 printer.lan."'; do
	grep -qF "$line" "$dir/made/resolverd.conf" || fail "OpenWrt: there is no line $line"
done
! grep -q nothing "$dir/made/resolverd.conf" || fail "OpenWrt: a host without an address is left out"
mkdir -p "$dir/made/d"
sed -e "s!/etc/resolver/resolver.conf.d!$dir/made/d!" -e '/^	file:/d' -e "s!$dir/state!$dir/keys!" "$dir/made/resolverd.conf" >"$dir/made/checked.conf"
claim "OpenWrt: what is made of UCI's files is a configuration" "$builddir/resolver-checkconf" --no-files "$dir/made/checked.conf"
echo 'resolverd main resolverd manual 1' >>"$dir/uci"
uci start_service
grep -q "^param command $bin/resolverd -d -p -c $dir/conf\$" "$dir/answer" || fail "OpenWrt: or with the file, when told so"
echo 'resolverd main resolverd enabled 0' >>"$dir/uci"
uci start_service || fail "OpenWrt: switched off is no error"
! grep -q '^param command' "$dir/answer" || fail "OpenWrt: and starts nothing"
uci reload_service
grep -q '^stopped$' "$dir/answer" || fail "OpenWrt: what is switched off stops at a reload"
: >"$dir/calls"

# FreeBSD: rc.subr.
cat >"$dir/rc.subr" <<-'END'
	load_rc_config() { echo "load $*"; }
	checkyesno() { eval "test \"\$$1\" = YES"; }
	err() { echo "error $*"; exit "$1"; }
	warn() { echo "warning $*"; }
	run_rc_command() {
		echo "command $command $command_args"
		echo "pidfile $pidfile"
		echo "files $required_files"
		case $1 in
		start) eval "${start_precmd:-true}" || exit 1 ;;
		reload) eval "${reload_precmd:-true}" || exit 1; echo "signal ${sig_reload:-HUP}" ;;
		*) eval "\${${1}_cmd}" ;;
		esac
	}
END
cat >"$bin/resolver-checkconf" <<-END
	#!/bin/sh
	echo "resolver-checkconf \$*" >>"$dir/calls"
	test "\$1" != -o || echo /var/run/resolverd.pid
END
sed -e "s|%%PREFIX%%|$dir/prefix|g" -e "s|^\. /etc/rc.subr|. $dir/rc.subr|" \
	-e "s|/usr/bin/install|true|; s|/usr/sbin/chown|true|" "$srcdir/contrib/freebsd/files/resolverd.in" >"$dir/rc.d"
mkdir -p "$dir/prefix/sbin" "$dir/prefix/etc/resolver"
cp "$bin/resolver-checkconf" "$bin/resolver-anchor" "$dir/prefix/sbin"
echo 'server:' >"$dir/prefix/etc/resolver/resolver.conf"
freebsd() {
	resolverd_enable=YES sh "$dir/rc.d" "$@" >"$dir/answer" 2>&1
}
freebsd start || fail "FreeBSD: the service starts: $(cat "$dir/answer")"
conf=$dir/prefix/etc/resolver/resolver.conf
grep -q "^command $dir/prefix/sbin/resolverd -c $conf\$" "$dir/answer" || fail "FreeBSD: the command line: $(cat "$dir/answer")"
grep -q '^pidfile /var/run/resolverd.pid$' "$dir/answer" || fail "FreeBSD: the pid file"
grep -q "^resolver-checkconf -q $conf\$" "$dir/calls" || fail "FreeBSD: the configuration is looked at"
: >"$dir/calls"
freebsd reload || fail "FreeBSD: it reloads"
grep -q '^signal HUP$' "$dir/answer" || fail "FreeBSD: a reload is a signal"
grep -q "^resolver-checkconf -q $conf\$" "$dir/calls" || fail "FreeBSD: and before a reload"

test -z "$missing" || echo "note: not here, and not tried with:$missing"
exit "$failed"
