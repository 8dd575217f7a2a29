# trace: what a process does, for those who look at it.
libctcore_la_SOURCES += \
	src/trace/dump.c \
	src/trace/format.h \
	src/trace/open.c \
	src/trace/own.h \
	src/trace/record.c \
	src/trace/ticks.h \
	src/trace/trace.h
# What reads a trace stands alone: the launcher and ctran_analyze link it without the library.
noinst_LTLIBRARIES += libcttrace.la
libcttrace_la_SOURCES = src/trace/image.c src/trace/image.h
libcttrace_la_CFLAGS = $(AM_CFLAGS) $(LTO_CFLAGS)
libctcore_la_LIBADD += libcttrace.la
