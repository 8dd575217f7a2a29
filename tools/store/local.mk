# ctran_store: a server of the store, and a client for people.
bin_PROGRAMS += tools/store/ctran_store
tools_store_ctran_store_SOURCES = tools/store/ctran_store.c
tools_store_ctran_store_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS)
tools_store_ctran_store_LDADD = libctboot.la libctbase.la
dist_man_MANS += man/ctran_store.1
TESTS += tests/func/store.py
EXTRA_DIST += tests/func/store.py
tests/func/store.log: tools/store/ctran_store$(EXEEXT)
