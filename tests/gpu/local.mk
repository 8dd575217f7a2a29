# tests/gpu: programs for machines with GPUs. They run on the emulated driver, too, where their
# times mean nothing.
check_PROGRAMS += tests/gpu/enqueue_perf
tests_gpu_enqueue_perf_SOURCES = tests/gpu/enqueue_perf.c tests/func/gpu.c tests/func/gpu.h
tests_gpu_enqueue_perf_LDADD = libctcore.la
# Of the kernels alone; see its head.
EXTRA_DIST += tests/gpu/kernels_perf.c
