# The library. libctcore has every symbol, for tests and tools; libctran shows the public ones.
noinst_LTLIBRARIES += libctcore.la
libctcore_la_SOURCES = src/ctran.h src/topo/here.c src/topo/here.h
libctcore_la_CPPFLAGS = $(AM_CPPFLAGS) $(PMIX_CFLAGS) $(EVENT_CFLAGS) $(HWLOC_CFLAGS)
libctcore_la_CFLAGS = $(AM_CFLAGS) $(LTO_CFLAGS)
libctcore_la_LIBADD = libctboot.la libcttopo.la libctbase.la $(PMIX_LIBS) $(HWLOC_LIBS) -lpthread

# In the order of the floors.
include src/trace/local.mk
include src/coll/algo/local.mk
include src/pmi/wire/local.mk
include src/pmi/store/local.mk
include src/pmi/oob/local.mk
include src/pmi/local.mk
include src/dtype/local.mk
include src/gpu/local.mk
include src/gpu/kernels/local.mk
include src/mem/local.mk
include src/net/local.mk
include src/ep/local.mk
include src/p2p/local.mk
include src/coll/run/local.mk
include src/comm/local.mk
include src/coll/local.mk
include src/ft/local.mk
include src/rma/local.mk
include src/stream/local.mk
include src/api/local.mk
include src/front/local.mk

lib_LTLIBRARIES += libctran.la
libctran_la_SOURCES =
libctran_la_LIBTOOLFLAGS = --tag=CC # with the archive, too
libctran_la_LIBADD = libctcore.la
libctran_la_LDFLAGS = $(LTO_LDFLAGS) -version-info $(CTRAN_LT_VERSION) \
	-Wl,--version-script=$(top_srcdir)/src/ctran.map -Wl,--no-undefined
libctran_la_DEPENDENCIES = libctcore.la $(top_srcdir)/src/ctran.map
EXTRA_DIST += src/ctran.map

# Users link the archive with a compiler of their own, which could not read ours' intermediate code.
install-exec-hook:
	a=$(DESTDIR)$(libdir)/libctran.a; test ! -f $$a || \
	  $(OBJCOPY) -R '.gnu.lto_*' -R '.gnu.debuglto_*' $$a

# The digest of all that decides what ranks say to each other; see base/version.h.
digested = $(libctbase_la_SOURCES) $(libctboot_la_SOURCES) $(libcttopo_la_SOURCES) $(libctcore_la_SOURCES) $(libcttrace_la_SOURCES) $(libctkernels_la_SOURCES)
digest.h: $(digested)
	$(AM_V_GEN)(cd $(srcdir) && cat $(digested)) | sha256sum | \
	  sed 's/^\(................\).*/#define CT_BUILD_DIGEST "\1"/' > $@.tmp && \
	  { cmp -s $@.tmp $@ || cp $@.tmp $@; rm -f $@.tmp; }
BUILT_SOURCES += digest.h
CLEANFILES += digest.h
