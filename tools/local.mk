# tools: programs about ctran, each with its page and its test.
bin_SCRIPTS += tools/ctrancc tools/ctrancxx
bin_PROGRAMS += tools/ctran_info
tools_ctran_info_SOURCES = tools/calibration.c tools/calibration.h tools/choices.c tools/choices.h \
	tools/ctran_info.c tools/gpus.c tools/gpus.h tools/protocols.c tools/protocols.h
tools_ctran_info_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir) $(PMIX_CFLAGS) $(HWLOC_CFLAGS) \
	-DCT_SYSCONFDIR='"$(sysconfdir)"' -DCT_FLAGS='"$(CFLAGS)"'
tools_ctran_info_LDADD = libctpictures.la libctcore.la $(PMIX_LIBS) $(HWLOC_LIBS)
dist_man_MANS += man/ctran_info.1 man/ctran-vars.7
dist_check_SCRIPTS += tools/ctran_info.test
TESTS += tools/ctran_info.test
tools/ctran_info.log: tools/ctran_info$(EXEEXT)

# ctran-vars(7) is kept in the tree, so that reading it needs no build; after a change to the list
# of variables this writes it anew, and until then ctran_info.test fails.
.PHONY: update-vars-page
update-vars-page: tools/ctran_info$(EXEEXT)
	tools/ctran_info --vars-mdoc >vars.mdoc
	sed -i -e '/begin of list/,/end of list/{//!d;}' -e '/begin of list/r vars.mdoc' \
	    $(srcdir)/man/ctran-vars.7
	rm -f vars.mdoc
