# launcher/cli: see cli.h.
launcher_sources += \
	launcher/cli/cli.h \
	launcher/cli/completion.c launcher/cli/completion.h \
	launcher/cli/foreign.c launcher/cli/foreign.h \
	launcher/cli/options.c launcher/cli/options.h \
	launcher/cli/options_take.c launcher/cli/options_take.h

# What shells have to know of our command line, made from the table of options (completion.c).
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = launcher/cli/completion/bash/ctranrun
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = launcher/cli/completion/zsh/_ctranrun
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_fishcompletion_DATA = launcher/cli/completion/fish/ctranrun.fish
.PHONY: update-completion
update-completion: ctranrun$(EXEEXT)
	./ctranrun --completion bash >$(srcdir)/launcher/cli/completion/bash/ctranrun
	./ctranrun --completion zsh >$(srcdir)/launcher/cli/completion/zsh/_ctranrun
	./ctranrun --completion fish >$(srcdir)/launcher/cli/completion/fish/ctranrun.fish
