# ctranrun, and its daemon on each node. What they consist of is compiled once, for them and for the
# unit tests of its parts, each of which takes what it needs.
launcher_common = \
	launcher/launcher.h \
	launcher/blockfile.c launcher/blockfile.h \
	launcher/daemon.c launcher/daemon.h \
	launcher/hub.c launcher/hub.h \
	launcher/hub_child.c \
	launcher/hub_events.c \
	launcher/hub_fence.c \
	launcher/jobdesc.c launcher/jobdesc.h \
	launcher/kin_unpack.c launcher/kin.h \
	launcher/merge.c launcher/merge.h \
	launcher/proto.c launcher/proto.h \
	launcher/ranklist.c launcher/ranklist.h \
	launcher/ranktable.c launcher/ranktable.h \
	launcher/reaper.c launcher/reaper.h \
	launcher/deaths.c launcher/deaths.h \
	launcher/session.c launcher/session.h \
	launcher/strlist.c launcher/strlist.h \
	launcher/tree.c launcher/tree.h
launcher_run = \
	launcher/completion.c launcher/completion.h \
	launcher/foreign.c launcher/foreign.h \
	launcher/hostorder.c launcher/hostorder.h \
	launcher/hosts.c launcher/hosts.h \
	launcher/head.c launcher/head.h launcher/head_job.h \
	launcher/head_end.c \
	launcher/head_nodes.c \
	launcher/head_report.c \
	launcher/input.c launcher/input.h \
	launcher/layout.c launcher/layout.h \
	launcher/options.c launcher/options.h \
	launcher/options_take.c launcher/options_take.h \
	launcher/output.c launcher/output.h \
	launcher/plan_exec.c \
	launcher/ownfd.c launcher/ownfd.h \
	launcher/program.c launcher/program.h \
	launcher/kin.c launcher/kin_root.h \
	launcher/kin_get.c \
	launcher/kin_meet.c \
	launcher/published.c launcher/published.h \
	launcher/published_store.c launcher/published_store.h \
	launcher/spawned.c launcher/spawned.h \
	launcher/spawned_place.c launcher/spawned_place.h \
	launcher/statusask.c launcher/statusask.h \
	launcher/statuscmd.c launcher/statuscmd.h \
	launcher/storecmd.c launcher/storecmd.h \
	launcher/terminal.c launcher/terminal.h
launcher_daemon = \
	launcher/corelock.c launcher/corelock.h \
	launcher/ctrand.h \
	launcher/ctrand_end.c \
	launcher/ctrand_start.c \
	launcher/execwhy.c launcher/execwhy.h \
	launcher/gpuread.c launcher/gpuread.h \
	launcher/gpus.c launcher/gpus.h \
	launcher/nodelimits.c launcher/nodelimits.h \
	launcher/nodestore.c launcher/nodestore.h \
	launcher/rankconfig.c launcher/rankconfig.h \
	launcher/outdir.c launcher/outdir.h \
	launcher/pmixask.c launcher/pmixask.h \
	launcher/pmixdata.c launcher/pmixdata.h \
	launcher/pmixevent.c launcher/pmixevent.h \
	launcher/pmixfail.c launcher/pmixfail.h \
	launcher/pmixfar.c launcher/pmixfar.h \
	launcher/pmixguard.c launcher/pmixguard.h \
	launcher/pmixinfo.c launcher/pmixinfo.h \
	launcher/pmixkin.c launcher/pmixkin.h \
	launcher/pmixlib.c launcher/pmixlib.h \
	launcher/pmixnews.c launcher/pmixnews.h \
	launcher/pmixquery.c launcher/pmixquery.h \
	launcher/pmixshift.c launcher/pmixshift.h \
	launcher/pmixspawn.c launcher/pmixspawn.h \
	launcher/pmixsrv.c launcher/pmixsrv.h \
	launcher/place.c launcher/place.h \
	launcher/place_report.c \
	launcher/plan.c launcher/plan.h \
	launcher/procs.c launcher/procs.h \
	launcher/pty.c launcher/pty.h \
	launcher/rankin.c launcher/rankin.h \
	launcher/rankio.c launcher/rankio.h \
	launcher/relay.c launcher/relay.h \
	launcher/statussrv.c launcher/statussrv.h
noinst_LTLIBRARIES += libctlaunch.la
libctlaunch_la_SOURCES = $(launcher_common) $(launcher_run) $(launcher_daemon)
libctlaunch_la_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(HWLOC_CFLAGS) $(PMIX_CFLAGS) \
	-DCT_LIBEXECDIR='"$(libexecdir)"'
launcher_libs = libctlaunch.la libctboot.la libcttopo.la libctbase.la $(EVENT_LIBS)

bin_PROGRAMS += ctranrun
ctranrun_SOURCES = launcher/ctranrun.c
ctranrun_CPPFLAGS = $(libctlaunch_la_CPPFLAGS)
ctranrun_LDADD = $(launcher_libs) -lm

libexec_PROGRAMS += ctrand
ctrand_SOURCES = launcher/ctrand.c
ctrand_CPPFLAGS = $(libctlaunch_la_CPPFLAGS)
ctrand_LDADD = $(launcher_libs) $(HWLOC_LIBS) $(PMIX_LIBS) -lpthread

# What shells have to know of our command line, made from the table of options (completion.c).
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = launcher/completion/bash/ctranrun
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = launcher/completion/zsh/_ctranrun
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_fishcompletion_DATA = launcher/completion/fish/ctranrun.fish
.PHONY: update-completion
update-completion: ctranrun$(EXEEXT)
	./ctranrun --completion bash >$(srcdir)/launcher/completion/bash/ctranrun
	./ctranrun --completion zsh >$(srcdir)/launcher/completion/zsh/_ctranrun
	./ctranrun --completion fish >$(srcdir)/launcher/completion/fish/ctranrun.fish
