# tests/net: the conformance suite of transports, on each of them and on mutants.
check_PROGRAMS += tests/net/conform
tests_net_conform_SOURCES = tests/net/conform.c tests/net/cases.c tests/net/cases.h \
	tests/net/cases_device.c tests/net/cases_key.c tests/net/cases_message.c \
	tests/net/cases_rma.c tests/net/cases_wait.c \
	tests/net/mutants.c tests/net/mutants.h tests/net/world.c tests/net/world.h \
	tests/net/template.c src/net/net.c
tests_net_conform_CPPFLAGS = $(AM_CPPFLAGS) -DCT_NET_MORE='&ct_net_template,' \
	-DCT_EMU_CUDA='"$(abs_top_builddir)/emu/cuda/libcuda.so.1"'
tests_net_conform_LDADD = libctcore.la -lpthread

TESTS += tests/net/conform.test tests/net/mutants.test
EXTRA_DIST += tests/net/conform.test tests/net/mutants.test
