# emu/cuda: a CUDA driver that runs on the CPU, for LD_LIBRARY_PATH=emu/cuda. Position-independent code
# whatever the build is, and no more symbols than the driver's functions.
emu_common_sources = emu/common/inject.c emu/common/number.c
emu_common_objects = $(emu_common_sources:.c=.emu.o)
emu_cuda_headers = emu/cuda/emu.h emu/cuda/kernel.h emu/common/common.h src/gpu/cuda.h
emu_cuda_sources = \
	emu/cuda/attr.c emu/cuda/blocks.c emu/cuda/calls.c emu/cuda/capture.c emu/cuda/context.c \
	emu/cuda/copy.c emu/cuda/device.c emu/cuda/driver.c emu/cuda/event.c emu/cuda/graph.c \
	emu/cuda/ipc.c emu/cuda/launch.c emu/cuda/memop.c emu/cuda/memory.c emu/cuda/module.c \
	emu/cuda/op.c emu/cuda/owned.c emu/cuda/pool.c emu/cuda/segment.c emu/cuda/settings.c \
	emu/cuda/share.c emu/cuda/stream.c emu/cuda/vmm.c emu/cuda/worker.c
emu_cuda_objects = $(emu_cuda_sources:.c=.emu.o) $(emu_common_objects)
emu_cuda_cc = $(CC) $(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) -fPIC

# What both emulations link, each for itself.
emu/common/%.emu.o: emu/common/%.c emu/common/common.h
	$(AM_V_CC)mkdir -p $(@D) && $(emu_cuda_cc) -c -o $@ $<
emu/cuda/%.emu.o: emu/cuda/%.c $(emu_cuda_headers)
	$(AM_V_CC)mkdir -p $(@D) && $(emu_cuda_cc) -c -o $@ $<
emu/cuda/libcuda.so.1: $(emu_cuda_objects) emu/cuda/libcuda.map
	$(AM_V_CCLD)$(emu_cuda_cc) $(LDFLAGS) -shared -Wl,-soname,libcuda.so.1 -Wl,-z,nodelete \
	-Wl,--version-script=$(srcdir)/emu/cuda/libcuda.map -o $@ $(emu_cuda_objects) \
	-lpthread -ldl
check_DATA += emu/cuda/libcuda.so.1
CLEANFILES += emu/cuda/libcuda.so.1 $(emu_cuda_objects)
EXTRA_DIST += $(emu_common_sources) emu/common/common.h
EXTRA_DIST += $(emu_cuda_sources) emu/cuda/libcuda.map emu/cuda/emu.h emu/cuda/kernel.h
