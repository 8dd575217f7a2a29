# tests/emu: the emulated CUDA driver by itself, without the library.
if HAVE_CMOCKA
emu_tests = \
	tests/emu/test_emu_blocking \
	tests/emu/test_emu_graph \
	tests/emu/test_emu_memory \
	tests/emu/test_emu_process \
	tests/emu/test_emu_stream
check_PROGRAMS += $(emu_tests)
TESTS += $(emu_tests)

emu_cppflags = $(AM_CPPFLAGS) -DEMU_LIBRARY='"$(abs_top_builddir)/emu/cuda/libcuda.so.1"' \
	-DEMU_KERNELS='"$(abs_top_builddir)/tests/emu/kernels.so"'
emu_cflags = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
emu_ldadd = $(CMOCKA_LIBS) -lpthread -ldl
emu_loaded = emu/cuda/libcuda.so.1 tests/emu/kernels.so

tests/emu/kernels.so: tests/emu/kernels.c emu/cuda/kernel.h
	$(AM_V_CCLD)mkdir -p $(@D) && $(emu_cuda_cc) -I$(top_srcdir) -shared -o $@ \
	$(srcdir)/tests/emu/kernels.c
check_DATA += tests/emu/kernels.so
CLEANFILES += tests/emu/kernels.so

tests_emu_test_emu_blocking_SOURCES = tests/emu/test_emu_blocking.c tests/emu/emu_test.h
tests_emu_test_emu_blocking_CPPFLAGS = $(emu_cppflags)
tests_emu_test_emu_blocking_CFLAGS = $(emu_cflags)
tests_emu_test_emu_blocking_LDADD = $(emu_ldadd)
EXTRA_tests_emu_test_emu_blocking_DEPENDENCIES = $(emu_loaded)
tests_emu_test_emu_graph_SOURCES = tests/emu/test_emu_graph.c tests/emu/emu_test.h
tests_emu_test_emu_graph_CPPFLAGS = $(emu_cppflags)
tests_emu_test_emu_graph_CFLAGS = $(emu_cflags)
tests_emu_test_emu_graph_LDADD = $(emu_ldadd)
EXTRA_tests_emu_test_emu_graph_DEPENDENCIES = $(emu_loaded)
tests_emu_test_emu_memory_SOURCES = tests/emu/test_emu_memory.c tests/emu/emu_test.h
tests_emu_test_emu_memory_CPPFLAGS = $(emu_cppflags)
tests_emu_test_emu_memory_CFLAGS = $(emu_cflags)
tests_emu_test_emu_memory_LDADD = $(emu_ldadd)
EXTRA_tests_emu_test_emu_memory_DEPENDENCIES = $(emu_loaded)
tests_emu_test_emu_process_SOURCES = tests/emu/test_emu_process.c tests/emu/emu_test.h
tests_emu_test_emu_process_CPPFLAGS = $(emu_cppflags)
tests_emu_test_emu_process_CFLAGS = $(emu_cflags)
tests_emu_test_emu_process_LDADD = $(emu_ldadd)
EXTRA_tests_emu_test_emu_process_DEPENDENCIES = $(emu_loaded)
tests_emu_test_emu_stream_SOURCES = tests/emu/test_emu_stream.c tests/emu/emu_test.h
tests_emu_test_emu_stream_CPPFLAGS = $(emu_cppflags)
tests_emu_test_emu_stream_CFLAGS = $(emu_cflags)
tests_emu_test_emu_stream_LDADD = $(emu_ldadd)
EXTRA_tests_emu_test_emu_stream_DEPENDENCIES = $(emu_loaded)
endif
EXTRA_DIST += tests/emu/kernels.c
