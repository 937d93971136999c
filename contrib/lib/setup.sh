# What quickstart and check share: missing packages, a copy of the sources to build from, namespaces.
# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced by bash with `set -u`; the caller has set `top`, the project's root. Every function here
# either does its work or calls `die`; none leaves anything behind that was not there before, apart
# from the packages it installed and the folder `build`.

build_packages=(autoconf automake libtool pkg-config make gcc libc6-dev libevent-dev libssl-dev
	libsodium-dev libldns-dev libjemalloc-dev libcmocka-dev libnghttp2-dev liburcu-dev
	libcurl4-openssl-dev libfstrm-dev libseccomp-dev libmnl-dev libidn2-dev)
mininet_packages=(python3 nsd ldnsutils bind9-dnsutils iproute2)
quickstart_packages=(unbound openssl knot-dnsutils)
check_packages=(clang llvm libclang-rt-14-dev unbound dnsmasq-base knot-dnsutils dnsperf python3-dnspython
	python3-pytest python3-cryptography bind9 pdns-recursor knot-resolver clang-tidy cppcheck python3-h2 nghttp2-client curl openssl valgrind prometheus man-db mandoc zsh
	shellcheck strace python3-clang-14 systemd fstrm-bin redis-server xz-utils nftables ipset)
debian_packages=(debhelper dpkg-dev fakeroot lintian debootstrap)

# Where Debian has unbound, nsd, dnsmasq and the like, which is not in the PATH of others than root.
PATH=$PATH:/usr/sbin:/sbin

say() { printf '\n== %s\n' "$*"; }
note() { printf '   %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# as_root COMMAND...: run it as root, by sudo where we are not.
as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "'$1' needs root, and there is no sudo: run me as root"
	fi
}

# packages_missing NAME...: those of them that are not installed, one per line.
packages_missing() {
	local p
	for p in "$@"; do
		[ "$(dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null)" = installed ] ||
			printf '%s\n' "$p"
	done
}

packages_present() { dpkg-query -W -f='${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p' | LC_ALL=C sort -u; }

# Units and init scripts that the named packages brought.
services_of() {
	local p
	for p in "$@"; do
		dpkg -L "$p" 2>/dev/null || true
	done | sed -n -e 's!^\(/usr\)\?/lib/systemd/system/\([^/@]*\.\(service\|socket\|timer\|path\|target\)\)$!\2!p' \
		-e 's!^/etc/init\.d/\([^/]*\)$!init.d/\1!p' | sort -u
}

# service_enabled NAME: a link starts it at boot.
service_enabled() {
	local link
	case $1 in
	init.d/*) for link in /etc/rc[2-5].d/S??"${1#init.d/}"; do [ -e "$link" ] && return 0; done ;;
	*) for link in /etc/systemd/system/*.wants/"$1" /etc/systemd/system/*.requires/"$1"; do
			[ -L "$link" ] && return 0
		done ;;
	esac
	return 1
}

# service_disable NAME: no link starts it at boot. Works with and without a running systemd.
service_disable() {
	case $1 in
	init.d/*) as_root update-rc.d "${1#init.d/}" disable >/dev/null 2>&1 || true ;;
	*)
		if [ -d /run/systemd/system ]; then
			as_root systemctl --quiet disable "$1" 2>/dev/null || true
		fi
		if command -v deb-systemd-helper >/dev/null; then
			as_root deb-systemd-helper disable "$1" >/dev/null 2>&1 || true
		fi
		as_root find /etc/systemd/system -mindepth 2 -type l -name "$1" -delete
		;;
	esac
}

# While policy-rc.d answers 101 no maintainer script starts a service. Whatever stood there comes
# back, also when the installation fails or is interrupted.
policy=/usr/sbin/policy-rc.d
policy_saved=

policy_forbid() {
	policy_saved=$(mktemp -d)
	if [ -e "$policy" ] || [ -L "$policy" ]; then
		as_root cp -a "$policy" "$policy_saved/was" && as_root rm -f "$policy"
	fi
	printf '#!/bin/sh\nexit 101\n' >"$policy_saved/forbid"
	as_root install -m 755 "$policy_saved/forbid" "$policy"
	"$policy" || [ $? -eq 101 ] || die "$policy does not forbid to start services"
}

policy_restore() {
	[ -n "$policy_saved" ] || return 0
	as_root rm -f "$policy"
	if [ -e "$policy_saved/was" ] || [ -L "$policy_saved/was" ]; then
		as_root cp -a "$policy_saved/was" "$policy"
	fi
	as_root rm -rf "$policy_saved"
	policy_saved=
}

# packages_install NAME...: what is missing of them, without starting or enabling any service.
packages_install() {
	local missing=() unit
	mapfile -t missing < <(packages_missing "$@")
	if [ ${#missing[@]} -eq 0 ]; then
		note "every package is there"
		return 0
	fi
	command -v apt-get >/dev/null ||
		die "these packages are missing and there is no apt-get: ${missing[*]}"
	note "installing ${missing[*]}"
	local before
	before=$(packages_present)
	(
		trap policy_restore EXIT
		trap 'exit 130' INT TERM HUP
		policy_forbid || exit 1
		export DEBIAN_FRONTEND=noninteractive
		apt=(as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y
			-o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120)
		log=$(mktemp)
		"${apt[@]}" --no-install-recommends install "${missing[@]}" >"$log" 2>&1 </dev/null || {
			# The lists may be missing or stale; fetch them and try once more.
			"${apt[@]}" update >>"$log" 2>&1 </dev/null || true
			"${apt[@]}" --no-install-recommends install "${missing[@]}" >>"$log" 2>&1 </dev/null
		} || {
			tail -n 20 "$log" >&2
			rm -f "$log"
			die "apt-get could not install: ${missing[*]}"
		}
		rm -f "$log"
	) || exit 1
	# Only packages that came just now, those that others asked for included: what was there
	# keeps the state its owner gave it.
	mapfile -t missing < <(LC_ALL=C comm -13 <(printf '%s\n' "$before") <(packages_present))
	for unit in $(services_of "${missing[@]}"); do
		if service_enabled "$unit"; then
			service_disable "$unit"
		fi
	done
}

# sources_copy: brings build/src up to date with the sources around it, so that no build ever
# touches them, nor minds that someone has configured in place. Times are kept: make sees only
# what changed. Works in a clone and out of one.
sources_copy() {
	local src=$top/build/src list
	mkdir -p "$src"
	list=$(mktemp)
	(
		cd "$top"
		# A folder somebody built in is a build folder, unless it is the top itself.
		mapfile -t built < <(find . -mindepth 2 -name config.status -not -path './build/*' \
			-printf '%h\n')
		prune=()
		for b in "${built[@]}"; do
			prune+=(-o -path "$b")
		done
		find . \( -path ./.git -o -path ./build -o -name .libs -o -name .deps -o \
			-name autom4te.cache -o -name __pycache__ -o -name .pytest_cache "${prune[@]}" \) \
			-prune -o \( -type f -o -type l \) \
			-not -name '*.o' -not -name '*.lo' -not -name '*.la' -not -name '*.a' \
			-not -name '*.log' -not -name '*.trs' -not -name '*.pyc' -not -name .dirstamp \
			-not -path ./Makefile -not -path ./Makefile.in -not -path ./configure \
			-not -path ./aclocal.m4 -not -path ./config.status -not -path ./config.h \
			-not -path ./contrib/made.stamp -not -path ./config.h.in -not -path ./libtool -not -path ./stamp-h1 -print |
			LC_ALL=C sort
	) >"$list"
	if [ -f "$src/.files" ]; then
		LC_ALL=C comm -23 "$src/.files" "$list" | (cd "$src" && xargs -r -d '\n' rm -f)
	fi
	tar -C "$top" -cf - --no-recursion -T "$list" | tar -C "$src" -xpf -
	mv "$list" "$src/.files"
}

# build_in NAME CONFIGURE-ARGUMENT...: builds build/NAME from build/src; output to build/NAME.log.
# `build_goals` names what to make, if not everything.
build_goals=()
build_in() {
	local dir=$top/build/$1 log=$top/build/$1.log src=$top/build/src
	shift
	(
		exec >"$log" 2>&1
		set -e
		if [ ! -x "$src/configure" ] ||
			[ -n "$(find "$src" -newer "$src/configure" \( -name '*.ac' -o -name '*.am' \
				-o -name '*.mk' -o -name '*.m4' \) -not -name aclocal.m4 -print -quit)" ]; then
			(cd "$src" && sh ./bootstrap)
		fi
		mkdir -p "$dir"
		cd "$dir"
		if [ ! -f config.status ] || [ "$src/configure" -nt config.status ] ||
			[ "$(cat .configured 2>/dev/null)" != "$*" ]; then
			"$src/configure" "$@"
			printf '%s\n' "$*" >.configured
		fi
		make -j"$(jobs_wanted)" ${build_goals[@]+"${build_goals[@]}"}
	) </dev/null || {
		tail -n 30 "$log" >&2
		return 1
	}
}

# version_of SOURCES: as configure.ac says, which alone says it.
version_of() { sed -n 's/^AC_INIT(\[resolverd\], \[\([^]]*\)\].*/\1/p' "$1/configure.ac"; }

# fuzz_rooms: the names of the fuzz targets; fuzz_build: build/fuzzing with libFuzzer, nothing but them.
fuzz_rooms() {
	(cd "$top" && find testdata/fuzz -maxdepth 1 -name '*.c' -not -name driver.c) | xargs -n 1 basename -s .c |
		LC_ALL=C sort
}
# fuzz_seeds ROOM: the folders its inputs are in.
fuzz_seeds() {
	echo "$top/testdata/fuzz/$1"
	awk -v room="$1" -v folder="$top/testdata/fuzz/" '$1 == room { print folder $2 }' "$top/testdata/fuzz/shared.tsv"
}
fuzz_build() {
	local code
	mapfile -t build_goals < <(fuzz_rooms | sed 's!.*!testdata/fuzz/&.fuzz!')
	build_in fuzzing CC=clang --enable-werror --enable-fuzzing
	code=$?
	build_goals=()
	return "$code"
}

jobs_wanted() { nproc 2>/dev/null || echo 2; }

# port_free_for_mininet: we may bind port 53 on the addresses of the miniature internet.
mininet_can_bind() { "$top/testdata/mininet/mininet" check-bind >/dev/null 2>&1; }

# network_or_die: before anything is installed or built: port 53 on loopback is to be had, or a network namespace. Where
# neither can be told yet, for want of python3, root is believed.
network_or_die() {
	local flags=-n
	[ "$(id -u)" -eq 0 ] || flags=-rn
	unshare "$flags" true 2>/dev/null || mininet_can_bind ||
		{ [ "$(id -u)" -eq 0 ] && ! command -v python3 >/dev/null; } ||
		die "port 53 on 127.10.0.1 is not ours, and neither is a network namespace (kernel.unprivileged_userns_clone?): be root"
}

# namespace_prefix: sets `namespace` to the command that runs another one in a network of its own
# with nothing but loopback, or to nothing where the kernel does not let us.
namespace_prefix() {
	namespace=()
	local flags=-n
	[ "$(id -u)" -eq 0 ] || flags=-rn
	if unshare "$flags" sh -c 'ip link set lo up' 2>/dev/null; then
		# shellcheck disable=SC2016
		namespace=(unshare "$flags" sh -c 'ip link set lo up && exec "$@"' sh)
	fi
}
