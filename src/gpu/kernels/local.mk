# gpu/kernels: CUDA kernels, in units that are compiled side by side. With nvcc each is a fat binary
# that is built into the library; with a C++ compiler the same units make a module for the emulated
# driver, ctran_kernels_emu.so.
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

# What takes longest comes first.
kernel_units = \
	reduce_e5m2 \
	reduce_e4m3 \
	reduce_int8 \
	reduce_float \
	reduce_half \
	reduce_pair \
	reduce_int16 \
	reduce_int32 \
	reduce_int64 \
	moves
kernel_included = \
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
	src/gpu/kernels/short.cuh
EXTRA_DIST += $(kernel_included) $(kernel_units:%=src/gpu/kernels/%.cu)
kernel_inputs = $(kernel_included) src/gpu/kernels/args.h src/dtype/fp8.h src/dtype/half.h

# A product and a sum stay two roundings, on GPUs as on hosts.
if HAVE_NVCC
kernel_fatbins = $(kernel_units:%=src/gpu/kernels/%.fatbin)
$(kernel_fatbins): $(kernel_inputs)
src/gpu/kernels/%.fatbin: $(srcdir)/src/gpu/kernels/%.cu
	$(AM_V_GEN)mkdir -p $(@D) && $(NVCC) -std=c++17 -fmad=false $(NVCCFLAGS) -I$(srcdir)/src \
	  -fatbin -Xfatbin -compress-all -o $@ $<
kernels.inc: $(kernel_fatbins)
	$(AM_V_GEN){ for unit in $(kernel_units); do \
	  echo "__attribute__((aligned(64))) static const unsigned char $$unit[] = {" && \
	  od -An -v -tx1 src/gpu/kernels/$$unit.fatbin | sed 's/ \(..\)/0x\1,/g' && echo '};' || exit; \
	  done && printf '#define CT_KERNELS_UNITS(X)' && printf ' X(%s)' $(kernel_units) && \
	  echo; } > $@.tmp && mv $@.tmp $@
# Not one of BUILT_SOURCES, which `make dist` would make. Automake would leave out its own rule for an
# object that it found as a target.
kernels_object = src/gpu/libctcore_la-fatbin.lo
$(kernels_object): kernels.inc
CLEANFILES += $(kernel_fatbins) kernels.inc
endif

if HAVE_CXX
kernel_emu_objects = $(kernel_units:%=src/gpu/kernels/%.emu.o)
$(kernel_emu_objects): $(kernel_inputs) emu/cuda/device.cuh emu/cuda/kernel.h
src/gpu/kernels/%.emu.o: $(srcdir)/src/gpu/kernels/%.cu
	$(AM_V_GEN)mkdir -p $(@D) && $(CXX) -x c++ -std=c++17 -Wall -Wextra $(CPPFLAGS) $(CFLAGS) \
	  $(KERNELS_CXXFLAGS) -ffp-contract=off -fPIC -fvisibility=hidden -I$(srcdir)/src -I$(srcdir) \
	  -c -o $@ $<
src/gpu/kernels/ctran_kernels_emu.so: $(kernel_emu_objects)
	$(AM_V_GEN)$(CXX) $(CFLAGS) $(KERNELS_CXXFLAGS) -shared -o $@ $(kernel_emu_objects)
check_DATA += src/gpu/kernels/ctran_kernels_emu.so
CLEANFILES += $(kernel_emu_objects) src/gpu/kernels/ctran_kernels_emu.so
endif
EXTRA_DIST += emu/cuda/device.cuh
