#!/bin/sh
# Claims about what an installation calls itself: names, folders and user, by configure's word
# (--enable-unbound-names), and what `make install` leaves where.
# SPDX-License-Identifier: BSD-3-Clause
set -u
builddir=$(cd "${top_builddir:-.}" && pwd)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES DESTDIR

fail() {
	echo "FAIL: $*"
	failed=1
}

# variable NAME: what the Makefile says it is, all of it filled in.
variable() {
	(cd "$builddir" && { cat Makefile; printf 'tell-it:\n\t@echo "$(%s)"\n' "$1"; } >"$dir/Makefile" &&
		"${MAKE:-make}" -s -f "$dir/Makefile" tell-it 2>/dev/null | tail -n 1)
}

product=$(variable product) daemon=$(variable daemon) user=$(variable user)
conf=$(variable conf_file) etc=$(variable sysconfdir) run=$(variable run_dir) state=$(variable state_dir)
case $product in
resolver) test "$daemon" = resolverd || fail "the daemon is called $daemon" ;;
unbound) test "$daemon" = unbound || fail "the daemon is called $daemon" ;;
*) fail "the product is called '$product'" ;;
esac

# ---- what is taken for granted ----

checkconf=$builddir/resolver-checkconf
while read -r option want; do
	got=$("$checkconf" -o "$option" /dev/null)
	test "$got" = "$want" || fail "$option is $got, not $want"
done <<-END
	pidfile $run/$daemon.pid
	username $user
	directory $etc/$product
	server-key-file $etc/$product/${product}_server.key
	control-cert-file $etc/$product/${product}_control.pem
	blocklist-directory $state/blocklists
END
"$checkconf" -h | grep -q "(default: $conf)" || fail "the configuration is not $conf"
"$builddir/resolverd" -h | grep -q "instead of $conf\$" || fail "the daemon's configuration is not $conf"

# ---- what make install leaves ----

(cd "$builddir" && "${MAKE:-make}" install DESTDIR="$dir/root") >"$dir/said" 2>&1 || {
	fail "make install"
	tail -n 20 "$dir/said"
}
sbin=$dir/root$(variable sbindir) bin=$dir/root$(variable bindir)

# there NAME-OF-OURS NAME: the same program under another name.
there() {
	cmp -s "$1" "$2" && test -x "$2" || fail "$2 is not there"
	test ! -L "$2" || fail "$2 is a link that leads away"
}
if test "$product" = unbound; then
	there "$sbin/resolverd" "$sbin/unbound"
	for program in anchor checkconf control control-setup; do
		there "$sbin/resolver-$program" "$sbin/unbound-$program"
	done
	there "$bin/resolver-host" "$bin/unbound-host"
	if test -f "$dir/root$(variable mandir)/man8/resolverd.8"; then
		for page in man8/unbound.8 man8/unbound-control.8 man8/unbound-checkconf.8 man8/unbound-anchor.8 \
			man8/unbound-control-setup.8 man1/unbound-host.1 man5/unbound.conf.5; do
			test -s "$dir/root$(variable mandir)/$page" || fail "$page is not there"
		done
	fi
	"$sbin/unbound" -V | grep -q '^Linked libs: .*libevent' || fail "unbound -V"
else
	test ! -e "$sbin/unbound" || fail "unbound is there, and nobody asked for it"
fi
for file in "$sbin/resolverd" "$dir/root$conf" "$dir/root$(variable libexecdir)/resolverd/root-key"; do
	test -s "$file" || fail "$file is not there"
done
test "$(stat -c %a "$dir/root$conf" 2>/dev/null || stat -f %Lp "$dir/root$conf")" = 644 || fail "the configuration's rights"
for folder in "$dir/root$state" "$dir/root$etc/$product/$product.conf.d"; do
	test -d "$folder" || fail "$folder is not there"
done

# What somebody has changed there stays, through a second installation and the end of it.
echo '# mine' >>"$dir/root$conf"
(cd "$builddir" && "${MAKE:-make}" install DESTDIR="$dir/root" && "${MAKE:-make}" uninstall DESTDIR="$dir/root") \
	>"$dir/said" 2>&1 || fail "make install again, and uninstall"
grep -q '^# mine$' "$dir/root$conf" || fail "the administrator's configuration did not stay"
rm -f "$dir/root$conf"
left=$(find "$dir/root" ! -type d)
test -z "$left" || fail "make uninstall left $left"

# The file it leaves is good, apart from folders that are another machine's.
sed -e "s|$etc/$product|$dir|; s|$state/root.key|$dir/root.key|; s|$run/[a-z/.]*|$dir/control|" \
	"$builddir/contrib/$product.conf" >"$dir/first.conf"
mkdir "$dir/$product.conf.d"
"$builddir/resolver-anchor" -a "$dir/root.key"
# As root, it has to be good for the user that the daemon becomes, where there is such a user.
test "$(id -u)" -ne 0 || ! id "$user" >/dev/null 2>&1 || chown -R "$user" "$dir"
"$checkconf" -q "$dir/first.conf" || fail "the configuration to begin with is not good"
exit "$failed"
