# pmi/wire, pmi/store, pmi/oob: what runs on an event loop. Part of the core, and by itself for
# tools that need no more.
noinst_LTLIBRARIES += libctboot.la
# uthash would end the process when memory is short.
libctboot_la_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) -DHASH_NONFATAL_OOM=1
libctboot_la_LIBADD = $(EVENT_LIBS)
libctboot_la_SOURCES = \
	src/pmi/wire/conn.c \
	src/pmi/wire/listener.c \
	src/pmi/wire/loop.c \
	src/pmi/wire/reach.c \
	src/pmi/wire/scratch.h \
	src/pmi/wire/until.c \
	src/pmi/wire/wire.h
