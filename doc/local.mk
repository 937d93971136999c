# doc: manual pages and completions, made from what the programs say of themselves (contrib/pages).
# A build for another machine cannot run them and goes without.
PAGES = \
	doc/man/resolver-anchor.8 \
	doc/man/resolver-checkconf.8 \
	doc/man/resolver-control-setup.8 \
	doc/man/resolver-control.8 \
	doc/man/resolver-host.1 \
	doc/man/resolver.conf.5 \
	doc/man/resolverd.8
COMPLETIONS = \
	contrib/completion/_resolverd \
	contrib/completion/resolver-control
# One file has them all; bash looks for one by the name of the command.
COMPLETED = \
	contrib/completion/resolver-anchor \
	contrib/completion/resolver-checkconf \
	contrib/completion/resolver-control-setup \
	contrib/completion/resolver-host \
	contrib/completion/resolverd
CLEANFILES += $(PAGES) $(COMPLETIONS) $(COMPLETED)

if !CROSS
man_MANS = $(PAGES)
bashcompletiondir = $(datadir)/bash-completion/completions
bashcompletion_DATA = contrib/completion/resolver-control $(COMPLETED)
zshcompletiondir = $(datadir)/zsh/site-functions
zshcompletion_DATA = contrib/completion/_resolverd

endif

made_from = resolver-anchor$(EXEEXT) resolver-checkconf$(EXEEXT) resolver-control$(EXEEXT) resolver-control-setup \
	resolver-host$(EXEEXT) resolverd$(EXEEXT) $(srcdir)/contrib/pages
$(PAGES) $(COMPLETIONS): $(made_from)
	$(AM_V_GEN)$(MKDIR_P) $(@D)
	@$(SHELL) $(srcdir)/contrib/pages $(srcdir)/$@.in >$@.tmp && mv $@.tmp $@
doc/man/resolver-anchor.8: $(srcdir)/doc/man/resolver-anchor.8.in
doc/man/resolver-checkconf.8: $(srcdir)/doc/man/resolver-checkconf.8.in
doc/man/resolver-control-setup.8: $(srcdir)/doc/man/resolver-control-setup.8.in
doc/man/resolver-control.8: $(srcdir)/doc/man/resolver-control.8.in
doc/man/resolver-host.1: $(srcdir)/doc/man/resolver-host.1.in
doc/man/resolver.conf.5: $(srcdir)/doc/man/resolver.conf.5.in
doc/man/resolverd.8: $(srcdir)/doc/man/resolverd.8.in
contrib/completion/_resolverd: $(srcdir)/contrib/completion/_resolverd.in
contrib/completion/resolver-control: $(srcdir)/contrib/completion/resolver-control.in

$(COMPLETED): $(srcdir)/contrib/completion/resolver-control.in
	$(AM_V_GEN)$(MKDIR_P) $(@D)
	@echo '. "$${BASH_SOURCE[0]%/*}/resolver-control"' >$@

TESTS += doc/tests/claims.sh doc/tests/guides.sh doc/tests/pages.sh doc/tests/snippets.sh doc/tests/walk.sh
EXTRA_DIST += doc/log.schema.json doc/tests/claims doc/tests/claims.sh doc/tests/guides.sh doc/tests/pages.sh \
	doc/tests/snippets.sh doc/tests/walk.sh
