# Folders with another release of Debian in them: for programs that the machine's own lacks or has older, and for
# tests of what is built there.
# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced by bash with `set -u`, after contrib/lib/setup.sh; the caller has set `top`.
#
#   release_root RELEASE PACKAGE...
#                               sets `release_folder` to the folder of that release (unstable, trixie), in which
#                               these packages are installed. Made by debootstrap at the first call (200 MB, a
#                               minute), kept in build/RELEASE, and used again. 77 where it cannot be had (we are not root, debootstrap
#                               cannot be installed, no mirror answers): the reason is in `release_why`, and on stderr.
#   release_run COMMAND...      runs it in there as root, with a /proc, and with the project's root at its own
#                               path. Standard input, output and the network are the caller's.
#   release_try COMMAND...      likewise, but in a network of its own, and what it changes in the folder is gone when it
#                               ends; 126 where the kernel has no overlays for us
#
#   UNSTABLE_ROOT, TRIXIE_ROOT  another folder for it; one that is there already is used as it is
#   RELEASE_MIRROR              where to take it from; not set: where this machine's packages come from, else where
#                               debootstrap does
#
# No service starts in there, and whatever is mounted is so for that one command alone (a mount namespace).
release_folder='' release_why=''

# The project's root is seen, and is not a copy; what is mounted in it (this folder's like) is not followed.
# shellcheck disable=SC2016
release_enter='
	mount -t proc proc "$root/proc" 2>/dev/null
	mkdir -p "$root$top" && mount --bind "$top" "$root$top" || exit 126
	case $at/ in "$top"/*) ;; *) at=/ ;; esac
	exec chroot "$root" /usr/bin/env -i -C "$at" PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive "$@"'
release_run() {
	# shellcheck disable=SC2016
	unshare -m sh -c 'root=$1 top=$2 at=$PWD; shift 2'"$release_enter" sh "$release_folder" "$top" "$@"
}
release_try() {
	# shellcheck disable=SC2016
	unshare -mnpf --kill-child sh -c 'root=$1 top=$2 at=$PWD; shift 2
		mount -t tmpfs tmpfs "$root/mnt" && mkdir "$root/mnt/upper" "$root/mnt/work" "$root/mnt/all" &&
			mount -t overlay overlay -o "lowerdir=$root,upperdir=$root/mnt/upper,workdir=$root/mnt/work" "$root/mnt/all" ||
			exit 126
		root=$root/mnt/all'"$release_enter" sh "$release_folder" "$top" "$@"
}

# release_apt ARGUMENT...: a mirror may be weeks behind, and then says so by a date that has passed; its
# signatures count all the same. Nothing in that folder serves anybody.
release_apt() {
	release_run apt-get -q -y -o Acquire::Check-Valid-Until=false -o Dpkg::Use-Pty=0 \
		-o DPkg::Lock::Timeout=600 "$@" </dev/null
}

# release_mirror: the archive that this machine takes Debian's packages from; nothing where it is another system's.
release_mirror() {
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 2>/dev/null |
		head -n 1
}

# release_make RELEASE LOG: the system itself. It comes to its place only when it is whole.
release_make() {
	local mirror=${RELEASE_MIRROR:-$(release_mirror)}
	command -v debootstrap >/dev/null || packages_install debootstrap >&2 || return 1
	rm -rf --one-file-system "$release_folder.new"
	mkdir -p "$(dirname "$release_folder")"
	unshare -m debootstrap --variant=minbase --include=ca-certificates "$1" "$release_folder.new" \
		${mirror:+"$mirror"} >>"$2" 2>&1 </dev/null || return 1
	printf '#!/bin/sh\nexit 101\n' >"$release_folder.new/usr/sbin/policy-rc.d"
	chmod 755 "$release_folder.new/usr/sbin/policy-rc.d"
	mv "$release_folder.new" "$release_folder"
}

# release_missing PACKAGE...: those that are not installed in there, one a line. Asked of its own dpkg.
release_missing() {
	local p
	for p in "$@"; do
		# shellcheck disable=SC2016
		[ "$(chroot "$release_folder" dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null)" = installed ] ||
			printf '%s\n' "$p"
	done
}

release_root() {
	local release=$1 log=$top/build/$1.log missing=() folder=${1^^}_ROOT
	shift
	release_folder=${!folder:-$top/build/$release}
	if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then
		release_why="a folder with Debian $release can only root make and enter"
		echo "$release_why" >&2
		return 77
	fi
	mkdir -p "$top/build"
	(
		# Two may want it at the same time.
		flock 8
		if [ ! -x "$release_folder/usr/bin/apt-get" ]; then
			note "making $release_folder, a folder with Debian $release" >&2
			: >"$log"
			release_make "$release" "$log" || exit 77
		fi
		[ -x "$release_folder/usr/sbin/policy-rc.d" ] ||
			die "$release_folder/usr/sbin/policy-rc.d does not forbid to start services"
		mapfile -t missing < <(release_missing "$@")
		[ ${#missing[@]} -gt 0 ] || exit 0
		note "installing ${missing[*]} in $release_folder" >&2
		# Names must be resolved in there as out here.
		rm -f "$release_folder/etc/resolv.conf"
		cat /etc/resolv.conf >"$release_folder/etc/resolv.conf"
		release_apt update >>"$log" 2>&1 &&
			release_apt --no-install-recommends install "${missing[@]}" >>"$log" 2>&1 || exit 77
	) 8>"${release_folder%/}.lock" || {
		[ ! -s "$log" ] || tail -n 5 "$log" >&2
		release_why="no folder with Debian $release could be made, or no packages installed in it: see build/$release.log"
		echo "$release_why" >&2
		return 77
	}
}
