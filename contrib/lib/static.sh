# Zig as a cross compiler, and the libraries of a build built with it: static ones, for systems with musl.
# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced after setup.sh. Zig comes from PyPI, sources of libraries are those of Debian's source packages, without its
# patches; both stay below build/ (zig, zig-cache, sources). A library is built once for a system, into build/SYSTEM/root;
# its output is in build/SYSTEM/libraries.log.

# zig_ready: sets `zig` to the path of its program, which starts sooner than python's module does.
zig_ready() {
	export ZIG_GLOBAL_CACHE_DIR=$top/build/zig-cache ZIG_LOCAL_CACHE_DIR=$top/build/zig-cache
	zig_find && return
	packages_install python3-pip || return
	mkdir -p "$top/build"
	timeout 300 python3 -m pip install -q --disable-pip-version-check --target "$top/build/zig" ziglang \
		>"$top/build/zig.log" 2>&1 && zig_find
}
zig_find() {
	local python
	for python in python3 /usr/bin/python3; do
		zig=$(PYTHONPATH=$top/build/zig "$python" -c 'import os, ziglang
print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))' 2>/dev/null) && "$zig" version >/dev/null 2>&1 && return
	done
	return 1
}

# zig_tools SYSTEM: build/SYSTEM/cc, ar and ranlib, which know where they are for. A triple of configure is in `host`.
zig_tools() {
	local dir=$top/build/$1 word
	mkdir -p "$dir"
	printf '#!/bin/sh\nexec %s cc -target %s "$@"\n' "$zig" "$1" >"$dir/cc"
	for word in ar ranlib; do printf '#!/bin/sh\nexec %s %s "$@"\n' "$zig" "$word" >"$dir/$word"; done
	chmod +x "$dir/cc" "$dir/ar" "$dir/ranlib"
	case $1 in *linux*) host=$1 ;; *) host=${1%%-*}-unknown-${1#*-} ;; esac
}

static_packages=(dpkg-dev autoconf automake libtool pkg-config make perl)
static_sources=(libevent openssl libsodium ldns cmocka nghttp2 liburcu)

# static_fetch: the sources, unpacked into build/sources/NAME; to no other system's knowledge.
static_fetch() {
	local dir=$top/build/sources apt name
	[ -f "$dir/.whole" ] && return 0
	mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial"
	: >"$dir/apt/status"
	sed 's/^Types: deb$/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$dir/apt/debian.sources" 2>/dev/null ||
		sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$dir/apt/debian.list"
	apt=(apt-get -q -y -o Dir::State="$dir/apt" -o Dir::State::status="$dir/apt/status" -o Dir::Cache="$dir/apt/cache"
		-o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::SourceList="$(ls "$dir"/apt/debian.*)" -o Dir::Etc::Parts=/dev/null
		-o Debug::NoLocking=1 -o APT::Sandbox::User=root -o Acquire::Retries=3)
	(
		set -e
		cd "$dir"
		timeout 300 "${apt[@]}" update
		timeout 900 "${apt[@]}" --tar-only --download-only source "${static_sources[@]}"
		for name in "${static_sources[@]}"; do
			rm -rf "${dir:?}/$name"
			mkdir "$name"
			tar -C "$name" --strip-components 1 -xf "$(ls "$name"_*.orig.tar.*[zZ2])"
			# Not every package has what autoconf makes.
			[ ! -f "$name/configure.ac" ] || [ -x "$name/configure" ] || (cd "$name" && autoreconf -fi)
		done
	) >"$dir/fetch.log" 2>&1 || { tail -n 5 "$dir/fetch.log"; return 1; }
	: >"$dir/.whole"
}

# static_build SYSTEM: those libraries in build/SYSTEM/root; zig_ready and zig_tools went before.
static_build() {
	local dir=$top/build/$1 name
	[ -f "$dir/root/.whole" ] && return 0
	mkdir -p "$dir/libraries" "$dir/root/lib/pkgconfig" "$dir/root/include"
	for name in "${static_sources[@]}"; do
		[ ! -f "$dir/libraries/$name/.done" ] || continue
		rm -rf "$dir/libraries/$name"
		mkdir -p "$dir/libraries/$name"
		(set -e && cd "$dir/libraries/$name" && "static_$name" "$top/build/sources/$name" "$dir" && touch .done) \
			</dev/null >"$dir/libraries/$name.log" 2>&1 ||
			{ note "$name cannot be built: see build/$1/libraries/$name.log"; return 1; }
	done
	: >"$dir/root/.whole"
}

# static_autoconf SOURCE SYSTEM-FOLDER ARGUMENT...
static_autoconf() {
	local source=$1 dir=$2
	shift 2
	PKG_CONFIG_LIBDIR="$dir/root/lib/pkgconfig" "$source/configure" --build="$(gcc -dumpmachine)" --host="$host" \
		--prefix="$dir/root" --disable-shared --enable-static CC="$dir/cc" AR="$dir/ar" RANLIB="$dir/ranlib" CFLAGS=-O2 "$@"
	make -j"$(jobs_wanted)"
	make install
}
static_libevent() { static_autoconf "$@" --disable-openssl --disable-samples --disable-libevent-regress; }
static_libsodium() { static_autoconf "$@"; }
static_nghttp2() { static_autoconf "$@" --enable-lib-only; }
static_liburcu() { static_autoconf "$@"; }
static_ldns() { static_autoconf "$@" --with-ssl="$2/root" --disable-gost --disable-dsa --disable-dane-ta-usage; }

# Without what resolverd never asks for: that is most of its files. No assembly: it is one recipe for every processor.
static_openssl() {
	local bits=64 out=() word
	case $host in arm* | mips-* | mipsel-* | powerpc-* | i?86-* | x86-*) bits=32 ;; esac
	for word in asm shared tests dso engine module legacy comp cms ts srp camellia aria seed idea bf cast rc2 rc4 md4 mdc2 \
		whirlpool sm2 sm3 sm4 gost dtls cmp ct srtp async; do
		out+=("no-$word")
	done
	perl "$1/Configure" "linux-generic$bits" --prefix="$2/root" --libdir=lib --openssldir=/etc/ssl "${out[@]}" CC="$2/cc" \
		AR="$2/ar" RANLIB="$2/ranlib" CFLAGS=-O2
	make -j"$(jobs_wanted)" build_libs
	make install_dev
}

# One file; its build is cmake's.
static_cmocka() {
	local define=() word
	for word in HAVE_{ASSERT,INTTYPES,MALLOC,MEMORY,SETJMP,SIGNAL,STDARG,STDDEF,STDINT,STDIO,STDLIB,STRINGS,STRING,TIME,UNISTD}_H \
		HAVE_SYS_{STAT,TYPES}_H HAVE_STRUCT_TIMESPEC HAVE_CLOCK_GETTIME HAVE_{CALLOC,EXIT,FPRINTF,SNPRINTF,VSNPRINTF,FREE} \
		HAVE_{LONGJMP,SIGLONGJMP,MALLOC,MEMCPY,MEMSET,PRINTF,SETJMP,SIGNAL,STRSIGNAL,STRCMP} HAVE_CLOCK_REALTIME; do
		define+=("-D$word=1")
	done
	"$2/cc" -O2 "${define[@]}" -I"$1/include" -c "$1/src/cmocka.c" -o cmocka.o
	"$2/ar" rcs "$2/root/lib/libcmocka.a" cmocka.o
	cp "$1"/include/*.h "$2/root/include/"
	printf '%s\n' "Name: cmocka" "Description: unit tests" "Version: 1.1" "Libs: -L$2/root/lib -lcmocka" \
		"Cflags: -I$2/root/include" >"$2/root/lib/pkgconfig/cmocka.pc"
}
