# gpu/kernels: CUDA kernels. With nvcc a fat binary that is built into the library; with a C++
# compiler the same sources make a module for the emulated driver, ctran_kernels_emu.so.
libctcore_la_SOURCES += \
	src/gpu/kernels.c src/gpu/kernels.h \
	src/gpu/kernels_direct.c \
	src/gpu/kernels_names.c \
	src/gpu/kernels_own.h \
	src/gpu/kernels_ll32.c \
	src/gpu/kernels_short.c \
	src/gpu/kernels/args.h \
	src/gpu/kernels/launch.c \
	src/gpu/kernels/types.c

kernel_sources = \
	src/gpu/kernels/all.cu \
	src/gpu/kernels/bcast.cu \
	src/gpu/kernels/channel.cuh \
	src/gpu/kernels/direct.cu \
	src/gpu/kernels/direct.cuh \
	src/gpu/kernels/dynamic.cu \
	src/gpu/kernels/flagged.cuh \
	src/gpu/kernels/message.cu \
	src/gpu/kernels/move.cu \
	src/gpu/kernels/ops.cuh \
	src/gpu/kernels/pipeline.cuh \
	src/gpu/kernels/port.cuh \
	src/gpu/kernels/reduce.cuh \
	src/gpu/kernels/reduce_short.cuh \
	src/gpu/kernels/roles.cuh \
	src/gpu/kernels/ll32.cuh \
	src/gpu/kernels/ll32_calls.cuh \
	src/gpu/kernels/short.cuh \
	src/gpu/kernels/reduce_float.cu \
	src/gpu/kernels/reduce_half.cu \
	src/gpu/kernels/reduce_int.cu \
	src/gpu/kernels/reduce_pair.cu \
	src/gpu/kernels/reduce_word.cu
EXTRA_DIST += $(kernel_sources)
kernel_inputs = $(kernel_sources) src/gpu/kernels/args.h src/dtype/fp8.h src/dtype/half.h

# A product and a sum stay two roundings, on GPUs as on hosts.
if HAVE_NVCC
src/gpu/kernels/kernels.fatbin: $(kernel_inputs)
	$(AM_V_GEN)mkdir -p $(@D) && $(NVCC) -std=c++17 -fmad=false $(NVCCFLAGS) -I$(srcdir)/src \
	  -fatbin -Xfatbin -compress-all -o $@ $(srcdir)/src/gpu/kernels/all.cu
kernels.inc: src/gpu/kernels/kernels.fatbin
	$(AM_V_GEN)od -An -v -tx1 src/gpu/kernels/kernels.fatbin | \
	  sed 's/ \(..\)/0x\1,/g' > $@.tmp && mv $@.tmp $@
BUILT_SOURCES += kernels.inc
CLEANFILES += src/gpu/kernels/kernels.fatbin kernels.inc
endif

if HAVE_CXX
src/gpu/kernels/ctran_kernels_emu.so: $(kernel_inputs) emu/cuda/device.cuh emu/cuda/kernel.h
	$(AM_V_GEN)mkdir -p $(@D) && $(CXX) -x c++ -std=c++17 -Wall -Wextra $(CPPFLAGS) $(CFLAGS) \
	  $(KERNELS_CXXFLAGS) -ffp-contract=off -fPIC -fvisibility=hidden -shared \
	  -I$(srcdir)/src -I$(srcdir) -o $@ $(srcdir)/src/gpu/kernels/all.cu
check_DATA += src/gpu/kernels/ctran_kernels_emu.so
CLEANFILES += src/gpu/kernels/ctran_kernels_emu.so
endif
EXTRA_DIST += emu/cuda/device.cuh
