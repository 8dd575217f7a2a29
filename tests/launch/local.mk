# tests/launch: ctranrun and ctrand. The tests are in Python; python.sh skips them without it.
check_PROGRAMS += tests/launch/pmixcli
tests_launch_pmixcli_SOURCES = tests/launch/pmixcli.c
tests_launch_pmixcli_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE $(PMIX_CFLAGS)
tests_launch_pmixcli_LDADD = $(PMIX_LIBS)

check_PROGRAMS += tests/launch/pmixpub
tests_launch_pmixpub_SOURCES = tests/launch/pmixpub.c
tests_launch_pmixpub_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE $(PMIX_CFLAGS)
tests_launch_pmixpub_LDADD = $(PMIX_LIBS)

check_PROGRAMS += tests/launch/pmixask
tests_launch_pmixask_SOURCES = tests/launch/pmixask.c
tests_launch_pmixask_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE $(PMIX_CFLAGS)
tests_launch_pmixask_LDADD = $(PMIX_LIBS)

check_PROGRAMS += tests/launch/pmixnotify
tests_launch_pmixnotify_SOURCES = tests/launch/pmixnotify.c
tests_launch_pmixnotify_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE $(PMIX_CFLAGS)
tests_launch_pmixnotify_LDADD = $(PMIX_LIBS)

check_PROGRAMS += tests/launch/pmixspawner
tests_launch_pmixspawner_SOURCES = tests/launch/pmixspawner.c
tests_launch_pmixspawner_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE $(PMIX_CFLAGS)
tests_launch_pmixspawner_LDADD = $(PMIX_LIBS)

check_PROGRAMS += tests/launch/busy
tests_launch_busy_SOURCES = tests/launch/busy.c
tests_launch_busy_LDADD = libctcore.la

check_PROGRAMS += tests/launch/planted
tests_launch_planted_SOURCES = tests/launch/planted.c
tests_launch_planted_LDADD = libctran.la
tests_launch_planted_LDFLAGS = -no-install

check_PROGRAMS += tests/launch/waits
tests_launch_waits_SOURCES = tests/launch/waits.c
tests_launch_waits_LDADD = libctran.la
tests_launch_waits_LDFLAGS = -no-install

check_PROGRAMS += tests/launch/parent
tests_launch_parent_SOURCES = tests/launch/parent.c
tests_launch_parent_LDADD = libctcore.la

check_PROGRAMS += tests/launch/stages
tests_launch_stages_SOURCES = tests/launch/stages.c
tests_launch_stages_LDADD = libctcore.la

check_PROGRAMS += tests/launch/immortal
tests_launch_immortal_SOURCES = tests/launch/immortal.c

# The launcher once more, with less patience, for the tests of what it does when that is over: its
# files that ask for what launcher.h makes of CT_PATIENCE.
check_PROGRAMS += tests/launch/impatient/ctranrun tests/launch/impatient/ctrand
tests_launch_impatient_ctranrun_SOURCES = launcher/ctranrun.c launcher/head/end.c \
	launcher/tree/router_events.c
tests_launch_impatient_ctranrun_CPPFLAGS = $(ctranrun_CPPFLAGS) -DCT_PATIENCE=8
tests_launch_impatient_ctranrun_LDADD = $(ctranrun_LDADD)
tests_launch_impatient_ctrand_SOURCES = launcher/ctrand.c launcher/daemon/end.c \
	launcher/tree/router_events.c launcher/tree/router_process.c
tests_launch_impatient_ctrand_CPPFLAGS = $(ctrand_CPPFLAGS) -DCT_PATIENCE=8
tests_launch_impatient_ctrand_LDADD = $(ctrand_LDADD)

# A plugin of hwloc that notes what is done with it; hwloc.py copies it under the names of real ones.
# Not by libtool, which makes no shared object in a build without shared libraries.
EXTRA_DIST += tests/launch/hwloc_note.c
CLEANFILES += tests/launch/hwloc_note.so
tests/launch/hwloc_note.so: tests/launch/hwloc_note.c
	$(AM_V_CC)$(MKDIR_P) tests/launch && $(CC) $(HWLOC_CFLAGS) $(WARN_CFLAGS) -shared -fPIC \
		-o $@ $(srcdir)/tests/launch/hwloc_note.c
tests/launch/hwloc.log: tests/launch/hwloc_note.so
tests/launch/analyze.log: tools/analyze/ctran_analyze$(EXEEXT)

TEST_EXTENSIONS += .py
PY_LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/launch/python.sh
launch_tests = \
	tests/launch/absent.py \
	tests/launch/analyze.py \
	tests/launch/apps.py \
	tests/launch/child.py \
	tests/launch/completion.py \
	tests/launch/debugger.py \
	tests/launch/env.py \
	tests/launch/events.py \
	tests/launch/hostorder.py \
	tests/launch/hwloc.py \
	tests/launch/input.py \
	tests/launch/jobs.py \
	tests/launch/leftover.py \
	tests/launch/limits.py \
	tests/launch/many.py \
	tests/launch/nodes.py \
	tests/launch/options.py \
	tests/launch/outdir.py \
	tests/launch/output.py \
	tests/launch/place.py \
	tests/launch/progress.py \
	tests/launch/publish.py \
	tests/launch/query.py \
	tests/launch/randomkill.py \
	tests/launch/recovery.py \
	tests/launch/spawn.py \
	tests/launch/status.py \
	tests/launch/storedump.py \
	tests/launch/strangers.py \
	tests/launch/stuck.py
TESTS += $(launch_tests)
EXTRA_DIST += $(launch_tests) tests/launch/launch.py tests/launch/lsan.supp \
	tests/launch/place_inner.py tests/launch/python.sh
