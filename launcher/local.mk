# ctranrun, and its daemon on each node. Their parts are compiled once, for both programs and for
# the unit tests, each of which takes what it needs. Each folder of launcher/ adds its files.
launcher_sources = launcher/launcher.h
include launcher/msg/local.mk
include launcher/job/local.mk
include launcher/proc/local.mk
include launcher/io/local.mk
include launcher/place/local.mk
include launcher/status/local.mk
include launcher/tree/local.mk
include launcher/family/local.mk
include launcher/pmix/local.mk
include launcher/cli/local.mk
include launcher/hosts/local.mk
include launcher/head/local.mk
include launcher/daemon/local.mk
noinst_LTLIBRARIES += libctlaunch.la
libctlaunch_la_SOURCES = $(launcher_sources)
libctlaunch_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir) $(EVENT_CFLAGS) $(HWLOC_CFLAGS) \
	$(PMIX_CFLAGS) -DCT_LIBEXECDIR='"$(libexecdir)"'
launcher_libs = libctlaunch.la libcttrace.la libctboot.la libcttopo.la libctbase.la $(EVENT_LIBS)

bin_PROGRAMS += ctranrun
ctranrun_SOURCES = launcher/ctranrun.c
ctranrun_CPPFLAGS = $(libctlaunch_la_CPPFLAGS)
ctranrun_LDADD = $(launcher_libs) -lm

libexec_PROGRAMS += ctrand
ctrand_SOURCES = launcher/ctrand.c
ctrand_CPPFLAGS = $(libctlaunch_la_CPPFLAGS)
ctrand_LDADD = $(launcher_libs) $(HWLOC_LIBS) $(PMIX_LIBS) -lpthread
