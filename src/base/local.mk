# base: the ground floor; the launcher and the tools link it alone.
noinst_LTLIBRARIES += libctbase.la
libctbase_la_SOURCES = \
	src/base/area.c src/base/area.h \
	src/base/attr.c src/base/attr.h \
	src/base/auth.c src/base/auth.h \
	src/base/base.h \
	src/base/block.c src/base/block.h \
	src/base/clock.h \
	src/base/codes.c src/base/codes.h \
	src/base/blocked.c src/base/blocked.h \
	src/base/config.c src/base/config.h src/base/vars.def \
	src/base/nearest.c src/base/nearest.h \
	src/base/errhandler.c src/base/errhandler.h \
	src/base/error.c src/base/error.h \
	src/base/ifaddr.c src/base/ifaddr.h \
	src/base/info.c src/base/info.h \
	src/base/line.h \
	src/base/list.h \
	src/base/lock.h \
	src/base/log.c src/base/log.h \
	src/base/membarrier.c src/base/membarrier.h \
	src/base/ref.h \
	src/base/request.h \
	src/base/process.h \
	src/base/log_once.c src/base/log_once.h \
	src/base/session.c src/base/session.h \
	src/base/slab.c src/base/slab.h \
	src/base/stdfd.c src/base/stdfd.h \
	src/base/textfile.c src/base/textfile.h \
	src/base/trace.h \
	src/base/tsan.h \
	src/base/util.h \
	src/base/version.c src/base/version.h \
	src/base/wait.c src/base/wait.h
libctbase_la_CPPFLAGS = $(AM_CPPFLAGS) -DCT_SYSCONFDIR='"$(sysconfdir)"' \
	-DCT_BUILD_CFLAGS='"$(CFLAGS)"' $(SODIUM_CFLAGS)
libctbase_la_CFLAGS = $(AM_CFLAGS) $(LTO_CFLAGS)
libctbase_la_LIBADD = $(SODIUM_LIBS)
