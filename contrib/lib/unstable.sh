# A folder with Debian unstable in it, for programs that the machine's own release lacks or has older.
# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced by bash with `set -u`, after contrib/lib/setup.sh; the caller has set `top`.
#
#   unstable_root PACKAGE...    sets `unstable` to the folder, in which these packages are installed. Made by
#                               debootstrap at the first call (200 MB, a minute), kept in build/unstable, and
#                               used again. 77, and the reason on stderr, where it cannot be had: we are not
#                               root, or no mirror answers.
#   unstable_run COMMAND...     runs it in there as root, with a /proc, and with the project's root at its own
#                               path. Standard input, output and the network are the caller's.
#
#   UNSTABLE_ROOT               another folder for it; one that is there already is used as it is
#   UNSTABLE_MIRROR             where to take it from; not set: where debootstrap does
#
# No service starts in there, and whatever is mounted is so for that one command alone (a mount namespace).
unstable=

unstable_run() {
	# The project's root is seen, and is not a copy; what is mounted in it (this folder's like) is not followed.
	# shellcheck disable=SC2016
	unshare -m sh -c '
		root=$1 top=$2 at=$PWD && shift 2
		mount -t proc proc "$root/proc" 2>/dev/null
		mkdir -p "$root$top" && mount --bind "$top" "$root$top" || exit 126
		case $at/ in "$top"/*) ;; *) at=/ ;; esac
		exec chroot "$root" /usr/bin/env -i -C "$at" PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive "$@"
	' sh "$unstable" "$top" "$@"
}

# unstable_apt ARGUMENT...: a mirror may be weeks behind, and then says so by a date that has passed; its
# signatures count all the same. Nothing in that folder serves anybody.
unstable_apt() {
	unstable_run apt-get -q -y -o Acquire::Check-Valid-Until=false -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=600 "$@" </dev/null
}

# unstable_make LOG: the system itself. It comes to its place only when it is whole.
unstable_make() {
	command -v debootstrap >/dev/null || packages_install debootstrap || return 1
	rm -rf --one-file-system "$unstable.new"
	mkdir -p "$(dirname "$unstable")"
	unshare -m debootstrap --variant=minbase --include=ca-certificates unstable "$unstable.new" \
		${UNSTABLE_MIRROR:+"$UNSTABLE_MIRROR"} >>"$1" 2>&1 </dev/null || return 1
	printf '#!/bin/sh\nexit 101\n' >"$unstable.new/usr/sbin/policy-rc.d"
	chmod 755 "$unstable.new/usr/sbin/policy-rc.d"
	mv "$unstable.new" "$unstable"
}

# unstable_missing PACKAGE...: those that are not installed in there, one a line. Asked of its own dpkg.
unstable_missing() {
	local p
	for p in "$@"; do
		# shellcheck disable=SC2016
		[ "$(chroot "$unstable" dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null)" = installed ] ||
			printf '%s\n' "$p"
	done
}

unstable_root() {
	local log=$top/build/unstable.log missing=()
	unstable=${UNSTABLE_ROOT:-$top/build/unstable}
	if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then
		echo "${0##*/}: $* would be run in a folder with Debian unstable, which only root can make and enter" >&2
		return 77
	fi
	mkdir -p "$top/build"
	(
		# Two may want it at the same time.
		flock 8
		if [ ! -x "$unstable/usr/bin/apt-get" ]; then
			note "making $unstable, a folder with Debian unstable" >&2
			: >"$log"
			unstable_make "$log" || exit 77
		fi
		[ -x "$unstable/usr/sbin/policy-rc.d" ] || die "$unstable/usr/sbin/policy-rc.d does not forbid to start services"
		mapfile -t missing < <(unstable_missing "$@")
		[ ${#missing[@]} -gt 0 ] || exit 0
		note "installing ${missing[*]} in $unstable" >&2
		# Names must be resolved in there as out here.
		rm -f "$unstable/etc/resolv.conf"
		cat /etc/resolv.conf >"$unstable/etc/resolv.conf"
		unstable_apt update >>"$log" 2>&1 &&
			unstable_apt --no-install-recommends install "${missing[@]}" >>"$log" 2>&1 || exit 77
	) 8>"${unstable%/}.lock" || {
		tail -n 5 "$log" >&2
		echo "${0##*/}: no folder with Debian unstable and $* in it: see $log" >&2
		return 77
	}
}
