# tests/emu: the emulated CUDA driver by itself, without the library. A program is made of the one
# source of its name.
if HAVE_CMOCKA
emu_tests = \
	tests/emu/test_emu_blocking \
	tests/emu/test_emu_graph \
	tests/emu/test_emu_memory \
	tests/emu/test_emu_process \
	tests/emu/test_emu_stream
check_PROGRAMS += $(emu_tests)
TESTS += $(emu_tests)

emu_cppflags = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS) -DEMU_LIBRARY='"$(abs_top_builddir)/emu/cuda/libcuda.so.1"' \
	-DEMU_KERNELS='"$(abs_top_builddir)/tests/emu/kernels.so"'
emu_ldadd = $(CMOCKA_LIBS) -lpthread -ldl
$(emu_tests): emu/cuda/libcuda.so.1 tests/emu/kernels.so

tests/emu/kernels.so: tests/emu/kernels.c emu/cuda/kernel.h
	$(AM_V_CCLD)mkdir -p $(@D) && $(emu_cuda_cc) -I$(top_srcdir) -shared -o $@ \
	$(srcdir)/tests/emu/kernels.c
check_DATA += tests/emu/kernels.so
CLEANFILES += tests/emu/kernels.so
tests_emu_test_emu_blocking_CPPFLAGS = $(emu_cppflags)
tests_emu_test_emu_blocking_LDADD = $(emu_ldadd)
tests_emu_test_emu_graph_CPPFLAGS = $(emu_cppflags)
tests_emu_test_emu_graph_LDADD = $(emu_ldadd)
tests_emu_test_emu_memory_CPPFLAGS = $(emu_cppflags)
tests_emu_test_emu_memory_LDADD = $(emu_ldadd)
tests_emu_test_emu_process_CPPFLAGS = $(emu_cppflags)
tests_emu_test_emu_process_LDADD = $(emu_ldadd)
tests_emu_test_emu_stream_CPPFLAGS = $(emu_cppflags)
tests_emu_test_emu_stream_LDADD = $(emu_ldadd)

endif
EXTRA_DIST += tests/emu/kernels.c tests/emu/emu_test.h

# What both emulations link.
if HAVE_CMOCKA
check_PROGRAMS += tests/emu/test_emu_common
TESTS += tests/emu/test_emu_common
tests_emu_test_emu_common_SOURCES = tests/emu/test_emu_common.c $(emu_common_sources)
tests_emu_test_emu_common_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tests_emu_test_emu_common_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_emu_test_emu_common_LDADD = $(CMOCKA_LIBS) -lpthread
endif

# The emulated verbs. The model of a link needs nothing of theirs.
if HAVE_CMOCKA
check_PROGRAMS += tests/emu/test_verbs_link
TESTS += tests/emu/test_verbs_link
tests_emu_test_verbs_link_SOURCES = tests/emu/test_verbs_link.c emu/verbs/link.c
tests_emu_test_verbs_link_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tests_emu_test_verbs_link_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_emu_test_verbs_link_LDADD = $(CMOCKA_LIBS)
if HAVE_VERBS
verbs_tests = \
	tests/emu/test_verbs_cq \
	tests/emu/test_verbs_errors \
	tests/emu/test_verbs_fabric \
	tests/emu/test_verbs_gpu \
	tests/emu/test_verbs_process \
	tests/emu/test_verbs_rc \
	tests/emu/test_verbs_state \
	tests/emu/test_verbs_ud
check_PROGRAMS += $(verbs_tests)
TESTS += $(verbs_tests)
verbs_cppflags = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS) $(VERBS_CFLAGS) -I$(top_srcdir)
verbs_ldflags = $(AM_LDFLAGS) -Wl,-rpath,$(abs_top_builddir)/emu/verbs
verbs_ldadd = emu/verbs/libibverbs.so.1 $(CMOCKA_LIBS) -lpthread
$(verbs_tests): emu/verbs/libibverbs.so.1
EXTRA_tests_emu_test_verbs_gpu_DEPENDENCIES = emu/cuda/libcuda.so.1
tests_emu_test_verbs_cq_CPPFLAGS = $(verbs_cppflags)
tests_emu_test_verbs_cq_LDFLAGS = $(verbs_ldflags)
tests_emu_test_verbs_cq_LDADD = $(verbs_ldadd)
tests_emu_test_verbs_errors_CPPFLAGS = $(verbs_cppflags)
tests_emu_test_verbs_errors_LDFLAGS = $(verbs_ldflags)
tests_emu_test_verbs_errors_LDADD = $(verbs_ldadd)
tests_emu_test_verbs_fabric_CPPFLAGS = $(verbs_cppflags)
tests_emu_test_verbs_fabric_LDFLAGS = $(verbs_ldflags)
tests_emu_test_verbs_fabric_LDADD = $(verbs_ldadd)
tests_emu_test_verbs_gpu_CPPFLAGS = $(verbs_cppflags) $(emu_cppflags)
tests_emu_test_verbs_gpu_LDFLAGS = $(verbs_ldflags)
tests_emu_test_verbs_gpu_LDADD = $(verbs_ldadd) -ldl
tests_emu_test_verbs_process_CPPFLAGS = $(verbs_cppflags)
tests_emu_test_verbs_process_LDFLAGS = $(verbs_ldflags)
tests_emu_test_verbs_process_LDADD = $(verbs_ldadd)
tests_emu_test_verbs_rc_CPPFLAGS = $(verbs_cppflags)
tests_emu_test_verbs_rc_LDFLAGS = $(verbs_ldflags)
tests_emu_test_verbs_rc_LDADD = $(verbs_ldadd)
tests_emu_test_verbs_state_CPPFLAGS = $(verbs_cppflags)
tests_emu_test_verbs_state_LDFLAGS = $(verbs_ldflags)
tests_emu_test_verbs_state_LDADD = $(verbs_ldadd)
tests_emu_test_verbs_ud_CPPFLAGS = $(verbs_cppflags)
tests_emu_test_verbs_ud_LDFLAGS = $(verbs_ldflags)
tests_emu_test_verbs_ud_LDADD = $(verbs_ldadd)
endif
endif
dist_check_SCRIPTS += tests/emu/verbs_tools.test
TESTS += tests/emu/verbs_tools.test
EXTRA_DIST += tests/emu/test_verbs_cq.c tests/emu/test_verbs_errors.c tests/emu/test_verbs_fabric.c \
	tests/emu/test_verbs_gpu.c tests/emu/test_verbs_process.c tests/emu/test_verbs_rc.c tests/emu/test_verbs_state.c tests/emu/test_verbs_ud.c \
	tests/emu/verbs_test.h
