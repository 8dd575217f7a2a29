# tests/gpu: for machines with GPUs. `run` does all of it; kernels_perf stands alone, see its head.
EXTRA_DIST += tests/gpu/kernels_perf.c tests/gpu/run
dist_check_SCRIPTS += tests/gpu/run.test
TESTS += tests/gpu/run.test
