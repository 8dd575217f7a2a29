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

# ib by itself, on the emulated verbs in virtual time.
if HAVE_VERBS
ib_tests = tests/net/ib_fabric tests/net/ib_failover tests/net/ib_faults tests/net/ib_gpu \
	tests/net/ib_order tests/net/ib_pool
check_PROGRAMS += $(ib_tests)
TESTS += $(ib_tests)
ib_cppflags = $(AM_CPPFLAGS) $(VERBS_CFLAGS) -I$(top_srcdir)
ib_ldflags = $(AM_LDFLAGS) -Wl,-rpath,$(abs_top_builddir)/emu/verbs
ib_ldadd = libctcore.la emu/verbs/libibverbs.so.1 -lpthread
ib_loaded = emu/verbs/libibverbs.so.1
tests_net_ib_gpu_SOURCES = tests/net/ib_gpu.c tests/net/ib_sides.h
tests_net_ib_gpu_CPPFLAGS = $(ib_cppflags)
tests_net_ib_gpu_LDFLAGS = $(ib_ldflags) -Wl,-rpath,$(abs_top_builddir)/emu/cuda
tests_net_ib_gpu_LDADD = $(ib_ldadd)
EXTRA_tests_net_ib_gpu_DEPENDENCIES = $(ib_loaded) emu/cuda/libcuda.so.1
tests_net_ib_faults_SOURCES = tests/net/ib_faults.c tests/net/ib_sides.h
tests_net_ib_faults_CPPFLAGS = $(ib_cppflags)
tests_net_ib_faults_LDFLAGS = $(ib_ldflags)
tests_net_ib_faults_LDADD = $(ib_ldadd)
EXTRA_tests_net_ib_faults_DEPENDENCIES = $(ib_loaded)
tests_net_ib_pool_SOURCES = tests/net/ib_pool.c tests/net/ib_sides.h
tests_net_ib_pool_CPPFLAGS = $(ib_cppflags)
tests_net_ib_pool_LDFLAGS = $(ib_ldflags)
tests_net_ib_pool_LDADD = $(ib_ldadd)
EXTRA_tests_net_ib_pool_DEPENDENCIES = $(ib_loaded)
tests_net_ib_order_SOURCES = tests/net/ib_order.c tests/net/ib_sides.h
tests_net_ib_order_CPPFLAGS = $(ib_cppflags)
tests_net_ib_order_LDFLAGS = $(ib_ldflags)
tests_net_ib_order_LDADD = $(ib_ldadd)
EXTRA_tests_net_ib_order_DEPENDENCIES = $(ib_loaded)
tests_net_ib_fabric_SOURCES = tests/net/ib_fabric.c tests/net/ib_sides.h
tests_net_ib_fabric_CPPFLAGS = $(ib_cppflags)
tests_net_ib_fabric_LDFLAGS = $(ib_ldflags)
tests_net_ib_fabric_LDADD = $(ib_ldadd)
EXTRA_tests_net_ib_fabric_DEPENDENCIES = $(ib_loaded)
tests_net_ib_failover_SOURCES = tests/net/ib_failover.c tests/net/ib_sides.h
tests_net_ib_failover_CPPFLAGS = $(ib_cppflags)
tests_net_ib_failover_LDFLAGS = $(ib_ldflags)
tests_net_ib_failover_LDADD = $(ib_ldadd)
EXTRA_tests_net_ib_failover_DEPENDENCIES = $(ib_loaded)
endif
EXTRA_DIST += tests/net/ib_fabric.c tests/net/ib_failover.c tests/net/ib_faults.c tests/net/ib_gpu.c tests/net/ib_pool.c tests/net/ib_order.c tests/net/ib_sides.h
