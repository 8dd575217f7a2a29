# examples: programs to read, to try and to measure with. They see the public header only. As
# they are not to be installed they know where the library is, and run from the build folder under
# any launcher. A static library would be optimised as a whole anew for each of them.
noinst_PROGRAMS += examples/hello
examples_hello_SOURCES = examples/hello.c
examples_hello_LDADD = libctran.la
examples_hello_LDFLAGS = -no-install

noinst_PROGRAMS += examples/pingpong
examples_pingpong_SOURCES = examples/pingpong.c
examples_pingpong_LDADD = libctran.la
examples_pingpong_LDFLAGS = -no-install

noinst_PROGRAMS += examples/hashtable examples/workqueue
examples_hashtable_SOURCES = examples/hashtable.c
examples_hashtable_LDADD = libctran.la
examples_hashtable_LDFLAGS = -no-install
examples_workqueue_SOURCES = examples/workqueue.c
examples_workqueue_LDADD = libctran.la
examples_workqueue_LDFLAGS = -no-install

if HAVE_ZLIB
noinst_PROGRAMS += examples/heat2d
examples_heat2d_SOURCES = examples/heat2d.c examples/heat2d_halo.c examples/heat2d.h \
	examples/args.c examples/args.h examples/png.c examples/png.h
examples_heat2d_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
examples_heat2d_LDADD = libctran.la $(ZLIB_LIBS) -lm
examples_heat2d_LDFLAGS = -no-install

noinst_PROGRAMS += examples/train
examples_train_SOURCES = \
	examples/train.c examples/train.h \
	examples/args.c examples/args.h \
	examples/train_args.h \
	examples/train_data.c \
	examples/train_device.c \
	examples/train_host.c \
	examples/gpu.c examples/gpu.h \
	examples/idx.c examples/idx.h \
	examples/mlp.c examples/mlp.h
examples_train_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
examples_train_LDADD = libctran.la $(ZLIB_LIBS) -lm
examples_train_LDFLAGS = -no-install
endif

noinst_PROGRAMS += examples/moe
examples_moe_SOURCES = \
	examples/moe.c examples/moe.h \
	examples/moe_check.c \
	examples/args.c examples/args.h \
	examples/gpu.c examples/gpu.h
examples_moe_LDADD = libctran.la
examples_moe_LDFLAGS = -no-install

noinst_PROGRAMS += examples/tp_overlap
examples_tp_overlap_SOURCES = \
	examples/tp_overlap.c examples/tp_overlap.h \
	examples/tp_gemm.c examples/tp_routes.c \
	examples/args.c examples/args.h \
	examples/gpu.c examples/gpu.h
examples_tp_overlap_LDADD = libctran.la
examples_tp_overlap_LDFLAGS = -no-install

# Kernels, a file for each program beside it: for GPUs where there is nvcc, and for the emulated
# driver where a test needs them.
kernel_headers = examples/kernel.cuh examples/train_args.h examples/train.h examples/mlp.h \
	examples/moe.h examples/tp_overlap.h
EXTRA_DIST += examples/kernel.cuh examples/train.cu examples/moe.cu examples/tp_overlap.cu
if HAVE_NVCC
examples/%.fatbin: examples/%.cu $(kernel_headers)
	$(AM_V_GEN)mkdir -p $(@D) && $(NVCC) -std=c++17 $(NVCCFLAGS) -fatbin -o $@ $<
noinst_DATA = examples/train.fatbin examples/moe.fatbin examples/tp_overlap.fatbin
CLEANFILES += $(noinst_DATA)
endif
if HAVE_CXX
examples/%.emu.so: examples/%.cu $(kernel_headers) emu/cuda/device.cuh emu/cuda/kernel.h
	$(AM_V_GEN)mkdir -p $(@D) && $(CXX) -x c++ -std=c++17 -Wall -Wextra $(CPPFLAGS) $(CFLAGS) \
	  -fPIC -fvisibility=hidden -shared -I$(srcdir) -o $@ $<
check_DATA += examples/train.emu.so examples/moe.emu.so examples/tp_overlap.emu.so
CLEANFILES += examples/train.emu.so examples/moe.emu.so examples/tp_overlap.emu.so
endif
example_tests = examples/heat2d.test examples/pingpong.test examples/train.test \
	examples/windows.test
dist_check_SCRIPTS += $(example_tests)
TESTS += $(example_tests)
