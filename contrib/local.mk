# contrib: what a system needs around the programs. Templates become files that know the folders and
# names of this installation; nothing of it is installed unless configure was told where.
TEMPLATES = \
	contrib/default.conf.in \
	contrib/openrc/resolverd.confd.in \
	contrib/openrc/resolverd.initd.in \
	contrib/resolvconf/resolverd.in \
	contrib/root-key.in \
	contrib/systemd/@daemon@.service.in \
	contrib/systemd/resolverd.socket.in \
	contrib/systemd/resolverd.sysusers.in \
	contrib/systemd/resolverd.tmpfiles.in
MADE = \
	contrib/@product@.conf \
	contrib/openrc/@daemon@.confd \
	contrib/openrc/@daemon@.initd \
	contrib/resolvconf/@daemon@ \
	contrib/root-key \
	contrib/systemd/@daemon@.service \
	contrib/systemd/@daemon@.socket \
	contrib/systemd/@daemon@.sysusers \
	contrib/systemd/@daemon@.tmpfiles

conf_dir = $(sysconfdir)/@product@
FILL_IN = sed -e 's|@sbindir[@]|$(sbindir)|g' -e 's|@libexecdir[@]|$(libexecdir)|g' \
	-e 's|@conf_file[@]|$(conf_file)|g' -e 's|@conf_dir[@]|$(conf_dir)|g' -e 's|@run_dir[@]|$(run_dir)|g' \
	-e 's|@state_dir[@]|$(state_dir)|g' -e 's|@product[@]|@product@|g' -e 's|@daemon[@]|@daemon@|g' \
	-e 's|@user[@]|@user@|g' -e 's|@default_file[@]|$(sysconfdir)/default/@daemon@|g' \
	-e 's|@version[@]|$(VERSION)|g' -e 's|@root_key_file[@]|$(state_dir)/root.key|g' -e 's|@control_socket[@]|$(run_dir)/@control_socket@|g'

all-local: contrib/made.stamp
CLEANFILES += $(MADE) contrib/made.stamp
$(MADE): contrib/made.stamp
contrib/made.stamp: Makefile $(TEMPLATES)
	@$(MKDIR_P) contrib/openrc contrib/resolvconf contrib/systemd
	$(AM_V_GEN)set -- $(MADE); for template in $(TEMPLATES); do \
		$(FILL_IN) $(srcdir)/$$template >$$1 || exit 1; \
		case $$1 in *.initd|*/resolvconf/*|*/root-key) chmod +x $$1 ;; esac; \
		shift; \
	done
	@echo made >$@

pkglibexecdir = $(libexecdir)/@PACKAGE@
nodist_pkglibexec_SCRIPTS = contrib/root-key

if WITH_UNITS
unitdir = $(unit_dir)
nodist_unit_DATA = contrib/systemd/@daemon@.service contrib/systemd/@daemon@.socket
endif

# A configuration that is there is the administrator's.
install-data-local: contrib/made.stamp
	$(MKDIR_P) "$(DESTDIR)$(conf_dir)/@product@.conf.d" "$(DESTDIR)$(state_dir)" "`dirname "$(DESTDIR)$(conf_file)"`"
	test -e "$(DESTDIR)$(conf_file)" || $(INSTALL_DATA) contrib/@product@.conf "$(DESTDIR)$(conf_file)"
	test -n "$(DESTDIR)" || $(MKDIR_P) "$(run_dir)"
	test -n "$(DESTDIR)" || chown @user@: "$(state_dir)" 2>/dev/null || \
		echo "note: $(state_dir) has to belong to the user @user@, whom the daemon becomes"
if WITH_SYSUSERS
	$(MKDIR_P) "$(DESTDIR)$(sysusers_dir)"
	$(INSTALL_DATA) contrib/systemd/@daemon@.sysusers "$(DESTDIR)$(sysusers_dir)/@daemon@.conf"
endif
if WITH_TMPFILES
	$(MKDIR_P) "$(DESTDIR)$(tmpfiles_dir)"
	$(INSTALL_DATA) contrib/systemd/@daemon@.tmpfiles "$(DESTDIR)$(tmpfiles_dir)/@daemon@.conf"
endif

# What the administrator has changed stays.
uninstall-local:
	rm -f "$(DESTDIR)$(sysusers_dir)/@daemon@.conf" "$(DESTDIR)$(tmpfiles_dir)/@daemon@.conf"
	cmp -s contrib/@product@.conf "$(DESTDIR)$(conf_file)" && rm -f "$(DESTDIR)$(conf_file)" || :
	rmdir "$(DESTDIR)$(conf_dir)/@product@.conf.d" "$(DESTDIR)$(conf_dir)" "$(DESTDIR)$(state_dir)" 2>/dev/null || :

# Hard links, or copies where there can be none: a program's name is the one it was started by, and
# rights are given to paths (AppArmor) that a symbolic link would lead away from.
if UNBOUND_NAMES
install-exec-hook:
	cd "$(DESTDIR)$(sbindir)" && for program in anchor checkconf control control-setup; do \
		rm -f unbound-$$program && { ln resolver-$$program unbound-$$program || \
		cp -p resolver-$$program unbound-$$program; } || exit 1; \
	done
	cd "$(DESTDIR)$(sbindir)" && rm -f unbound && { ln resolverd unbound || cp -p resolverd unbound; }
	cd "$(DESTDIR)$(bindir)" && rm -f unbound-host && { ln resolver-host unbound-host || cp -p resolver-host unbound-host; }

# Their manual pages, where pages were made.
install-data-hook:
	for page in 8/resolverd.8:unbound.8 8/resolver-anchor.8:unbound-anchor.8 \
		8/resolver-checkconf.8:unbound-checkconf.8 8/resolver-control.8:unbound-control.8 \
		8/resolver-control-setup.8:unbound-control-setup.8 1/resolver-host.1:unbound-host.1 \
		5/resolver.conf.5:unbound.conf.5; do \
		folder="$(DESTDIR)$(mandir)/man$${page%%/*}" ours=$${page#*/} && \
		if test -f "$$folder/$${ours%:*}"; then \
			rm -f "$$folder/$${ours#*:}" && \
			ln -s "$${ours%:*}" "$$folder/$${ours#*:}" || exit 1; \
		fi; \
	done

uninstall-hook:
	cd "$(DESTDIR)$(mandir)" 2>/dev/null && rm -f man8/unbound.8 man8/unbound-anchor.8 man8/unbound-checkconf.8 \
		man8/unbound-control.8 man8/unbound-control-setup.8 man1/unbound-host.1 man5/unbound.conf.5 || :
	cd "$(DESTDIR)$(sbindir)" && rm -f unbound unbound-anchor unbound-checkconf unbound-control unbound-control-setup
	rm -f "$(DESTDIR)$(bindir)/unbound-host"
endif

TESTS += contrib/tests/generate.sh contrib/tests/names.sh contrib/tests/services.sh contrib/tests/soak.sh contrib/tests/version.sh
