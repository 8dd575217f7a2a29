# ctran_scale: how the start of a job scales.
bin_PROGRAMS += tools/scale/ctran_scale
tools_scale_ctran_scale_SOURCES = \
	tools/scale/baseline.c \
	tools/scale/calibrate.c \
	tools/scale/crew.c \
	tools/scale/main.c \
	tools/scale/processes.c \
	tools/scale/report.c \
	tools/scale/scale.h \
	tools/scale/simulate.c \
	tools/scale/sockets.c
tools_scale_ctran_scale_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(PMIX_CFLAGS)
tools_scale_ctran_scale_LDADD = libctcore.la
dist_man_MANS += man/ctran_scale.1
TESTS += tests/func/scale.py
EXTRA_DIST += tests/func/scale.py
tests/func/scale.log: tools/scale/ctran_scale$(EXEEXT) ctranrun$(EXEEXT) ctrand$(EXEEXT)
