# bench: figures. Programs here print what they measured; nothing here passes or fails.
noinst_PROGRAMS += bench/resident
bench_resident_SOURCES = bench/resident.c
bench_resident_LDADD = libctran.la
bench_resident_LDFLAGS = -static $(LTO_LDFLAGS)

# What ranks cost that wait.
if HAVE_VERBS
EXTRA_PROGRAMS += bench/ib_cost # on the emulated verbs, which only `make check` makes
bench_ib_cost_SOURCES = bench/ib_cost.c tests/net/ib_sides.h
bench_ib_cost_CPPFLAGS = $(AM_CPPFLAGS) $(VERBS_CFLAGS) -I$(top_srcdir)
bench_ib_cost_LDFLAGS = $(AM_LDFLAGS) -Wl,-rpath,$(abs_top_builddir)/emu/verbs
bench_ib_cost_LDADD = libctcore.la emu/verbs/libibverbs.so.1 -lpthread
EXTRA_bench_ib_cost_DEPENDENCIES = emu/verbs/libibverbs.so.1
endif
EXTRA_DIST += bench/ib_cost.c
noinst_PROGRAMS += bench/idle
bench_idle_SOURCES = bench/idle.c
bench_idle_LDADD = libctran.la
bench_idle_LDFLAGS = -no-install

# What it costs to split a communicator, and what that sends.
noinst_PROGRAMS += bench/split
bench_split_SOURCES = bench/split.c
bench_split_LDADD = libctran.la
bench_split_LDFLAGS = -no-install
dist_check_SCRIPTS += bench/split.test
TESTS += bench/split.test

# What a call costs by way of mpi.h.
noinst_PROGRAMS += bench/mpi_calls
bench_mpi_calls_SOURCES = bench/mpi_calls.c
bench_mpi_calls_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/mpi
bench_mpi_calls_LDADD = libmpi_abi.la libctran.la
bench_mpi_calls_LDFLAGS = -no-install

# Its loop to compare with shall be vectorised, as the kernels are.
noinst_PROGRAMS += bench/reduce_local
bench_reduce_local_SOURCES = bench/reduce_local.c
bench_reduce_local_CFLAGS = $(AM_CFLAGS) -fopenmp-simd
bench_reduce_local_LDADD = libctran.la
bench_reduce_local_LDFLAGS = -no-install

# Distances of ranks, and the order of hosts; of the library's inside.
noinst_PROGRAMS += bench/distance
bench_distance_SOURCES = bench/distance.c
bench_distance_LDADD = libctcore.la

# What it costs to know a GPU's memory; of the library's inside.
noinst_PROGRAMS += bench/memory
bench_memory_SOURCES = bench/memory.c tests/func/gpu.c tests/func/gpu.h $(func_check)
bench_memory_LDADD = $(func_ldadd)
# What a host needs for what ranks do that share it, for bench/sim_perf.
noinst_PROGRAMS += bench/host_figures
bench_host_figures_SOURCES = bench/host_figures.c
bench_host_figures_LDADD = libctcore.la

# The floor under a message by TCP, and the script that stands ctran's tcp beside it.
noinst_PROGRAMS += bench/tcp_epoll
bench_tcp_epoll_SOURCES = bench/tcp_epoll.c
EXTRA_DIST += bench/tcp

# ctran_perf: the driver, its modules, and the program that it starts on every rank, with its
# sources, since a peer's compiler builds them again.
dist_bin_SCRIPTS += bench/ctran_perf
perf_sources = \
	bench/perf/coll.c \
	bench/perf/data.c \
	bench/perf/floor.c \
	bench/perf/main.c \
	bench/perf/measure.c \
	bench/perf/mpi_map.h \
	bench/perf/near.c \
	bench/perf/onesided.c \
	bench/perf/perf.h \
	bench/perf/pt2pt.c \
	bench/perf/resident.c \
	bench/perf/spawn.c
libexec_PROGRAMS += bench/ctran_perf_rank
bench_ctran_perf_rank_SOURCES = $(perf_sources)
bench_ctran_perf_rank_LDADD = libctran.la
bench_ctran_perf_rank_LDFLAGS = -static $(LTO_LDFLAGS)
# The same for stream-ordered calls on GPUs.
libexec_PROGRAMS += bench/ctran_perf_device
bench_ctran_perf_device_SOURCES = \
	bench/device/device.c bench/device/nccl.c bench/device/nccl.h \
	tests/func/gpu.c tests/func/gpu.h
bench_ctran_perf_device_LDADD = libctcore.la
perfdir = $(datadir)/ctran/perf
dist_perf_DATA = $(perf_sources) \
	bench/perf/device.py \
	bench/perf/libraries.py \
	bench/perf/plot.py \
	bench/perf/points.py \
	bench/perf/report.py \
	bench/perf/stats.py \
	bench/perf/tables.py \
	bench/perf/tune.py
dist_man_MANS += man/ctran_perf.1
dist_check_SCRIPTS += bench/ctran_perf.test
TESTS += bench/ctran_perf.test
EXTRA_DIST += bench/perf/test_perf.py
# Today's figures, a series a file, and the page that results_page makes of them.
EXTRA_DIST += bench/RESULTS.md bench/results_page \
	bench/results/exchange.json \
	bench/results/gpu-blocking.json \
	bench/results/gpu-graph-few-blocks.json \
	bench/results/gpu-graph-long.json \
	bench/results/gpu-graph-short.json \
	bench/results/host-collectives-2-ranks.json \
	bench/results/host-collectives.json \
	bench/results/host-messages-2-ranks.json \
	bench/results/host-messages.json \
	bench/results/ib.json \
	bench/results/idle.json \
	bench/results/memory.json \
	bench/results/simulator.json \
	bench/results/starts.json \
	bench/results/tcp.json
dist_check_SCRIPTS += bench/results.test
TESTS += bench/results.test
# The runs of ctran_scale, their figure, and what draws it.
EXTRA_DIST += bench/scale.jsonl bench/scale.svg bench/scale_plot
# Holds ctran_sim against ctran_perf.
EXTRA_DIST += bench/sim_perf bench/sim_allgather.svg bench/sim_allreduce.svg

# Dumps of jobs of any size, for ctran_analyze; and what the trace costs a call.
noinst_PROGRAMS += bench/trace_dumps bench/trace_cost
bench_trace_dumps_SOURCES = bench/trace_dumps.c
bench_trace_dumps_LDADD = libcttrace.la
bench_trace_cost_SOURCES = bench/trace_cost.c
bench_trace_cost_LDADD = libctran.la
bench_trace_cost_LDFLAGS = -no-install
