# tests/emu: the emulated CUDA driver by itself, without the library.
if HAVE_CMOCKA
emu_tests = \
	tests/emu/test_emu_memory
check_PROGRAMS += $(emu_tests)
TESTS += $(emu_tests)

emu_cppflags = $(AM_CPPFLAGS) -DEMU_LIBRARY='"$(abs_top_builddir)/emu/cuda/libcuda.so.1"'
emu_cflags = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
emu_ldadd = $(CMOCKA_LIBS) -ldl

tests_emu_test_emu_memory_SOURCES = tests/emu/test_emu_memory.c tests/emu/emu_test.h
tests_emu_test_emu_memory_CPPFLAGS = $(emu_cppflags)
tests_emu_test_emu_memory_CFLAGS = $(emu_cflags)
tests_emu_test_emu_memory_LDADD = $(emu_ldadd)
EXTRA_tests_emu_test_emu_memory_DEPENDENCIES = emu/cuda/libcuda.so.1
endif
