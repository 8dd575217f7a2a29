# tests/func: the public calls on real ranks. Each program covers one subject, takes any number of
# ranks, and exits with 0 when all of its checks held on every rank.
func_programs = tests/func/p2p tests/func/coll tests/func/comm tests/func/errors \
	tests/func/group tests/func/errhandlers tests/func/info \
	tests/func/inter tests/func/environment tests/func/topo tests/func/reorder tests/func/threads \
	tests/func/progress tests/func/neighbor
check_PROGRAMS += $(func_programs) tests/func/algos tests/func/bits tests/func/fatal \
	tests/func/initial
# Linked against convenience libraries: real binaries, which start without libtool's wrapper. What all
# of them need is compiled once, whatever flags a program has of its own.
check_LTLIBRARIES += libfunc.la
libfunc_la_SOURCES = tests/func/check.c tests/func/foreign.c
func_check = tests/func/check.h tests/func/foreign.h
func_ldadd = libfunc.la libctcore.la
func_forced = tests/func/forced.c tests/func/forced.h
tests_func_p2p_SOURCES = tests/func/p2p.c tests/func/p2p_wait.c \
	tests/func/p2p_traffic.c tests/func/p2p_modes.c \
	tests/func/p2p_probe.c tests/func/p2p_bsend.c tests/func/p2p_persistent.c tests/func/p2p_cancel.c \
	tests/func/p2p_exchange.c tests/func/p2p.h $(func_check)
tests_func_p2p_LDADD = $(func_ldadd)
tests_func_coll_SOURCES = tests/func/coll.c tests/func/coll_blocks.c \
	tests/func/coll_counts.c \
	tests/func/coll_reduce.c tests/func/coll.h \
	$(func_forced) $(func_check)
tests_func_coll_LDADD = $(func_ldadd)
tests_func_comm_SOURCES = tests/func/comm.c $(func_check)
tests_func_comm_LDADD = $(func_ldadd)
# Memory that the ranks of a host map.
check_PROGRAMS += tests/func/alloc_mem
dist_check_SCRIPTS += tests/func/alloc_mem.test
TESTS += tests/func/alloc_mem.test
tests_func_alloc_mem_SOURCES = tests/func/alloc_mem.c $(func_check)
tests_func_alloc_mem_LDADD = $(func_ldadd)
# Cycles of init and finalize, and sessions.
check_PROGRAMS += tests/func/cycles
dist_check_SCRIPTS += tests/func/cycles.test
TESTS += tests/func/cycles.test
tests_func_cycles_SOURCES = tests/func/cycles.c $(func_check)
tests_func_cycles_LDADD = $(func_ldadd)
# Standard streams that are closed.
check_PROGRAMS += tests/func/closed
dist_check_SCRIPTS += tests/func/closed.test
TESTS += tests/func/closed.test
tests_func_closed_SOURCES = tests/func/closed.c $(func_check)
tests_func_closed_LDADD = $(func_ldadd)
# Processes that start or meet later.
check_PROGRAMS += tests/func/spawn
dist_check_SCRIPTS += tests/func/spawn.test
TESTS += tests/func/spawn.test
tests_func_spawn_SOURCES = tests/func/spawn.c tests/func/spawn_child.c tests/func/spawn.h \
	$(func_check)
tests_func_spawn_LDADD = $(func_ldadd)
# Processes that end while others go on.
check_PROGRAMS += tests/func/leave
dist_check_SCRIPTS += tests/func/leave.test
TESTS += tests/func/leave.test
# Processes that start at different times, or not at all: with the same program.
dist_check_SCRIPTS += tests/func/start.test
TESTS += tests/func/start.test
check_PROGRAMS += tests/func/retry
tests_func_retry_SOURCES = tests/func/retry.c $(func_check)
tests_func_retry_LDADD = $(func_ldadd)
# Wrong maps of NICs and GPUs: with the same program.
dist_check_SCRIPTS += tests/func/maps.test
TESTS += tests/func/maps.test
tests_func_leave_SOURCES = tests/func/leave.c $(func_check)
tests_func_leave_LDADD = $(func_ldadd)
check_PROGRAMS += tests/func/badmem
tests_func_badmem_SOURCES = tests/func/badmem.c $(func_check)
tests_func_badmem_LDADD = $(func_ldadd)
# Ranks whose counts differ.
check_PROGRAMS += tests/func/unlike
dist_check_SCRIPTS += tests/func/unlike.test
TESTS += tests/func/unlike.test
tests_func_unlike_SOURCES = tests/func/unlike.c $(func_check)
tests_func_unlike_LDADD = $(func_ldadd)
# Communicators by hardware.
check_PROGRAMS += tests/func/hardware
dist_check_SCRIPTS += tests/func/hardware.test
TESTS += tests/func/hardware.test
tests_func_hardware_SOURCES = tests/func/hardware.c $(func_check)
tests_func_hardware_LDADD = $(func_ldadd)
# Datatypes.
check_PROGRAMS += tests/func/types
dist_check_SCRIPTS += tests/func/types.test
TESTS += tests/func/types.test
tests_func_types_SOURCES = tests/func/types.c tests/func/types_coll.c \
	tests/func/types_inquiry.c tests/func/types.h tests/typemap.c tests/typemap.h $(func_check)
tests_func_types_LDADD = $(func_ldadd)
# Unexpected messages.
check_PROGRAMS += tests/func/flood
dist_check_SCRIPTS += tests/func/flood.test
TESTS += tests/func/flood.test
tests_func_flood_SOURCES = tests/func/flood.c $(func_check)
tests_func_flood_LDADD = $(func_ldadd)
# Operators.
check_PROGRAMS += tests/func/op
dist_check_SCRIPTS += tests/func/op.test
TESTS += tests/func/op.test
tests_func_op_SOURCES = tests/func/op.c $(func_forced) $(func_check)
tests_func_op_LDADD = $(func_ldadd)
# Partitioned messages.
check_PROGRAMS += tests/func/part
dist_check_SCRIPTS += tests/func/part.test
TESTS += tests/func/part.test
tests_func_part_SOURCES = tests/func/part.c $(func_check)
tests_func_part_LDADD = $(func_ldadd) -lpthread
# Polls that give the core away.
check_PROGRAMS += tests/func/polls
dist_check_SCRIPTS += tests/func/polls.test
TESTS += tests/func/polls.test
tests_func_polls_SOURCES = tests/func/polls.c $(func_check)
tests_func_polls_LDADD = $(func_ldadd)
# Generalized requests.
check_PROGRAMS += tests/func/grequest
dist_check_SCRIPTS += tests/func/grequest.test
TESTS += tests/func/grequest.test
tests_func_grequest_SOURCES = tests/func/grequest.c $(func_check)
tests_func_grequest_LDADD = $(func_ldadd) -lpthread
tests_func_errors_SOURCES = tests/func/errors.c tests/func/errors_null.c tests/func/errors.h $(func_check)
tests_func_errors_LDADD = $(func_ldadd)
tests_func_group_SOURCES = tests/func/group.c tests/func/group_comm.c \
	tests/func/group_attr.c tests/func/group.h \
	$(func_check)
tests_func_group_LDADD = $(func_ldadd)
tests_func_errhandlers_SOURCES = tests/func/errhandlers.c $(func_check)
tests_func_errhandlers_LDADD = $(func_ldadd)
tests_func_bits_SOURCES = tests/func/bits.c $(func_check)
tests_func_bits_LDADD = $(func_ldadd) -lm
tests_func_info_SOURCES = tests/func/info.c $(func_check)
tests_func_info_LDADD = $(func_ldadd) -lpthread
tests_func_topo_SOURCES = tests/func/topo.c $(func_check)
tests_func_topo_LDADD = $(func_ldadd)
tests_func_neighbor_SOURCES = tests/func/neighbor.c tests/func/neighbor_run.c \
	tests/func/neighbor.h $(func_check)
tests_func_neighbor_LDADD = $(func_ldadd)
tests_func_reorder_SOURCES = tests/func/reorder.c $(func_check)
tests_func_reorder_LDADD = $(func_ldadd)
tests_func_inter_SOURCES = tests/func/inter.c tests/func/inter_idup.c \
	tests/func/inter_coll.c tests/func/inter.h \
	$(func_check)
tests_func_inter_LDADD = $(func_ldadd)
tests_func_threads_SOURCES = tests/func/threads.c tests/func/threads_traffic.c \
	tests/func/threads_waits.c tests/func/threads_objects.c tests/func/threads_win.c tests/func/threads.h \
	$(func_check)
tests_func_progress_SOURCES = tests/func/progress.c $(func_check)
tests_func_progress_LDADD = $(func_ldadd) -lpthread
tests_func_threads_LDADD = $(func_ldadd) -lpthread
tests_func_environment_SOURCES = tests/func/environment.c $(func_check)
tests_func_environment_LDADD = $(func_ldadd)
tests_func_algos_SOURCES = tests/func/algos.c
tests_func_algos_LDADD = libctcore.la
tests_func_fatal_SOURCES = tests/func/fatal.c
tests_func_fatal_LDADD = libctcore.la
tests_func_initial_SOURCES = tests/func/initial.c $(func_check)
tests_func_initial_LDADD = $(func_ldadd)

func_tests = \
	tests/func/p2p.test \
	tests/func/coll.test \
	tests/func/comm.test \
	tests/func/calibration.test \
	tests/func/errors.test \
	tests/func/environment.test \
	tests/func/errhandlers.test \
	tests/func/fatal.test \
	tests/func/initial.test \
	tests/func/group.test \
	tests/func/info.test \
	tests/func/failures.test \
	tests/func/inter.test \
	tests/func/levels.test \
	tests/func/select.test \
	tests/func/settings.test \
	tests/func/topo.test \
	tests/func/neighbor.test \
	tests/func/reorder.test \
	tests/func/threads.test \
	tests/func/progress.test \
	tests/func/algorithms.test
dist_check_SCRIPTS += $(func_tests)
TESTS += $(func_tests)
EXTRA_DIST += tests/func/func.sh

# Nonblocking and persistent collectives: their own program, and those of the blocking ones, where
# each call begins one and waits for it.
check_PROGRAMS += tests/func/icoll
dist_check_SCRIPTS += tests/func/icoll.test
TESTS += tests/func/icoll.test
tests_func_icoll_SOURCES = tests/func/icoll.c tests/func/icoll_cases.c tests/func/icoll.h \
	tests/func/as_request.h $(func_forced) $(func_check)
tests_func_icoll_LDADD = $(func_ldadd) -lpthread
as_request = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/func/as_request.h
check_PROGRAMS += tests/func/coll_request
tests_func_coll_request_SOURCES = $(tests_func_coll_SOURCES)
tests_func_coll_request_CPPFLAGS = $(as_request)
tests_func_coll_request_LDADD = $(func_ldadd)
check_PROGRAMS += tests/func/coll_start
tests_func_coll_start_SOURCES = $(tests_func_coll_SOURCES)
tests_func_coll_start_CPPFLAGS = $(as_request) -DAS_PERSISTENT
tests_func_coll_start_LDADD = $(func_ldadd)
check_PROGRAMS += tests/func/inter_request
tests_func_inter_request_SOURCES = $(tests_func_inter_SOURCES)
tests_func_inter_request_CPPFLAGS = $(as_request)
tests_func_inter_request_LDADD = $(func_ldadd)
check_PROGRAMS += tests/func/inter_start
tests_func_inter_start_SOURCES = $(tests_func_inter_SOURCES)
tests_func_inter_start_CPPFLAGS = $(as_request) -DAS_PERSISTENT
tests_func_inter_start_LDADD = $(func_ldadd)
check_PROGRAMS += tests/func/types_request
tests_func_types_request_SOURCES = $(tests_func_types_SOURCES)
tests_func_types_request_CPPFLAGS = $(as_request)
tests_func_types_request_LDADD = $(func_ldadd)
check_PROGRAMS += tests/func/types_start
tests_func_types_start_SOURCES = $(tests_func_types_SOURCES)
tests_func_types_start_CPPFLAGS = $(as_request) -DAS_PERSISTENT
tests_func_types_start_LDADD = $(func_ldadd)
check_PROGRAMS += tests/func/neighbor_request
tests_func_neighbor_request_SOURCES = $(tests_func_neighbor_SOURCES)
tests_func_neighbor_request_CPPFLAGS = $(as_request)
tests_func_neighbor_request_LDADD = $(func_ldadd)
check_PROGRAMS += tests/func/neighbor_start
tests_func_neighbor_start_SOURCES = $(tests_func_neighbor_SOURCES)
tests_func_neighbor_start_CPPFLAGS = $(as_request) -DAS_PERSISTENT
tests_func_neighbor_start_LDADD = $(func_ldadd)
check_PROGRAMS += tests/func/errors_request
tests_func_errors_request_SOURCES = $(tests_func_errors_SOURCES)
tests_func_errors_request_CPPFLAGS = $(as_request)
tests_func_errors_request_LDADD = $(func_ldadd)
check_PROGRAMS += tests/func/errors_start
tests_func_errors_start_SOURCES = $(tests_func_errors_SOURCES)
tests_func_errors_start_CPPFLAGS = $(as_request) -DAS_PERSISTENT
tests_func_errors_start_LDADD = $(func_ldadd)

# Random messages of every kind.
check_PROGRAMS += tests/func/storm
dist_check_SCRIPTS += tests/func/storm.test
TESTS += tests/func/storm.test
tests_func_storm_SOURCES = tests/func/storm.c tests/func/storm_plan.c tests/func/storm.h \
	$(func_check)
tests_func_storm_LDADD = $(func_ldadd) -lpthread

# Random collective calls of every kind, against a model.
check_PROGRAMS += tests/func/medley
dist_check_SCRIPTS += tests/func/medley.test
TESTS += tests/func/medley.test
tests_func_medley_SOURCES = tests/func/medley.c tests/func/medley_call.c \
	tests/func/medley_comms.c tests/func/medley_model.c tests/func/medley_plan.c \
	tests/func/medley_values.c tests/func/medley.h $(func_check)
tests_func_medley_LDADD = $(func_ldadd) -lm

# The transport between hosts.
dist_check_SCRIPTS += tests/func/ib.test tests/func/tcp.test
TESTS += tests/func/ib.test tests/func/tcp.test

# Clients that mean harm, at all that a running job listens on.
TESTS += tests/func/hostile.py
EXTRA_DIST += tests/func/hostile.py
check_PROGRAMS += tests/func/guests
tests_func_guests_SOURCES = tests/func/guests.c $(func_check)
tests_func_guests_LDADD = $(func_ldadd)
# What the runner counts, against ctran_sim.
check_PROGRAMS += tests/func/counts
tests_func_counts_SOURCES = tests/func/counts.c $(func_check)
tests_func_counts_LDADD = $(func_ldadd)
TESTS += tests/func/sim_counts.py
EXTRA_DIST += tests/func/sim_counts.py
tests/func/sim_counts.log: tests/func/counts$(EXEEXT) tools/sim/ctran_sim$(EXEEXT) \
	tools/ctran_info$(EXEEXT) ctranrun$(EXEEXT) ctrand$(EXEEXT)

# Memory that the processor does not reach: on a stand-in for it, and on the emulated driver of CUDA.
# Collectives also as requests.
check_PROGRAMS += tests/func/device tests/func/device_request tests/func/device_start
dist_check_SCRIPTS += tests/func/device.test
TESTS += tests/func/device.test
tests_func_device_SOURCES = tests/func/device.c tests/func/device.h tests/func/device_coll.c \
	tests/func/device_fail.c tests/func/device_mem.c tests/func/device_p2p.c \
	tests/func/device_peer.c tests/func/device_run.c $(func_check)
tests_func_device_LDADD = $(func_ldadd)
check_PROGRAMS += tests/func/device_die
tests_func_device_die_SOURCES = tests/func/device_die.c tests/func/device.h \
	tests/func/device_mem.c $(func_check)
tests_func_device_die_LDADD = $(func_ldadd)
tests_func_device_request_SOURCES = $(tests_func_device_SOURCES)
tests_func_device_request_CPPFLAGS = $(as_request)
tests_func_device_request_LDADD = $(func_ldadd)
tests_func_device_start_SOURCES = $(tests_func_device_SOURCES)
tests_func_device_start_CPPFLAGS = $(as_request) -DAS_PERSISTENT
tests_func_device_start_LDADD = $(func_ldadd)
# Stream-ordered calls: on the emulated driver, or on GPUs.
check_PROGRAMS += tests/func/stream
dist_check_SCRIPTS += tests/func/stream.test
TESTS += tests/func/stream.test
tests_func_stream_SOURCES = tests/func/stream.c tests/func/gpu.c tests/func/gpu.h \
	$(func_check)
check_PROGRAMS += tests/func/stream_storm tests/func/stream_end
tests_func_stream_storm_SOURCES = tests/func/stream_storm.c tests/func/gpu.c tests/func/gpu.h \
	$(func_check)
tests_func_stream_storm_LDADD = $(func_ldadd)
tests_func_stream_end_SOURCES = tests/func/stream_end.c tests/func/gpu.c tests/func/gpu.h \
	$(func_check)
tests_func_stream_end_LDADD = $(func_ldadd)
check_PROGRAMS += tests/func/stream_reduce tests/func/stream_dynamic
tests_func_stream_dynamic_SOURCES = tests/func/stream_dynamic.c tests/func/gpu.c tests/func/gpu.h \
	$(func_check)
tests_func_stream_dynamic_LDADD = $(func_ldadd)
tests_func_stream_reduce_SOURCES = tests/func/stream_reduce.c tests/func/gpu.c tests/func/gpu.h \
	$(func_check)
tests_func_stream_reduce_LDADD = $(func_ldadd)
tests_func_stream_LDADD = $(func_ldadd)
# The examples on GPUs, there too.
gpu_example_tests = tests/func/gpu_moe.test tests/func/gpu_overlap.test tests/func/gpu_train.test
dist_check_SCRIPTS += $(gpu_example_tests)
TESTS += $(gpu_example_tests)
EXTRA_DIST += tests/func/gpu.sh tests/func/images.py
check_PROGRAMS += tests/func/stream_small
tests_func_stream_small_SOURCES = tests/func/stream_small.c tests/func/gpu.c tests/func/gpu.h \
	$(func_check)
tests_func_stream_small_LDADD = $(func_ldadd)
# On the ranks' own buffers, by stream.test, too.
check_PROGRAMS += tests/func/stream_direct
tests_func_stream_direct_SOURCES = tests/func/stream_direct.c tests/func/gpu.c tests/func/gpu.h \
	$(func_check)
tests_func_stream_direct_LDADD = $(func_ldadd)
# Long broadcasts, by stream.test, too.
check_PROGRAMS += tests/func/stream_chain
tests_func_stream_chain_SOURCES = tests/func/stream_chain.c tests/func/gpu.c tests/func/gpu.h \
	$(func_check)
tests_func_stream_chain_LDADD = $(func_ldadd)
# What they once did wrong, the memory that they take, and what they ask of the driver.
check_PROGRAMS += tests/func/stream_mends tests/func/stream_memory tests/func/stream_calls
dist_check_SCRIPTS += tests/func/stream_mends.test
TESTS += tests/func/stream_mends.test
tests_func_stream_mends_SOURCES = tests/func/stream_mends.c tests/func/stream_mends.h \
	tests/func/stream_refused.c tests/func/gpu.c tests/func/gpu.h $(func_check)
tests_func_stream_mends_LDADD = $(func_ldadd)
tests_func_stream_memory_SOURCES = tests/func/stream_memory.c tests/func/gpu.c tests/func/gpu.h \
	$(func_check)
tests_func_stream_memory_LDADD = $(func_ldadd)
tests_func_stream_calls_SOURCES = tests/func/stream_calls.c tests/func/gpu.c tests/func/gpu.h \
	$(func_check)
tests_func_stream_calls_LDADD = $(func_ldadd)

# Memory that the program asks for.
check_PROGRAMS += tests/func/memory
dist_check_SCRIPTS += tests/func/memory.test
TESTS += tests/func/memory.test
tests_func_memory_SOURCES = tests/func/memory.c $(func_check)
tests_func_memory_LDADD = $(func_ldadd)
# CTRAN_BOTTOM in every call that takes a data buffer.
check_PROGRAMS += tests/func/bottom
dist_check_SCRIPTS += tests/func/bottom.test
TESTS += tests/func/bottom.test
tests_func_bottom_SOURCES = tests/func/bottom.c tests/func/bottom.h tests/func/bottom_calls.def \
	tests/func/bottom_case.c tests/func/bottom_ends.c tests/func/bottom_hand.c \
	tests/func/bottom_kinds.c tests/func/bottom_run.c tests/func/bottom_shapes.c tests/func/bottom_table.c \
	tests/func/bottom_types.c tests/func/bottom_win.c tests/func/device.h tests/func/device_mem.c \
	tests/func/gpu.c \
	tests/func/gpu.h $(func_check)
tests_func_bottom_LDADD = $(func_ldadd)
# Windows.
check_PROGRAMS += tests/func/win tests/func/win_device tests/func/win_random tests/func/win_stream
dist_check_SCRIPTS += tests/func/win.test tests/func/win_device.test tests/func/win_random.test \
	tests/func/win_stream.test
TESTS += tests/func/win.test tests/func/win_device.test tests/func/win_random.test \
	tests/func/win_stream.test
tests_func_win_stream_SOURCES = tests/func/win_stream.c tests/func/gpu.c tests/func/gpu.h $(func_check)
tests_func_win_stream_LDADD = $(func_ldadd)
tests_func_win_device_SOURCES = tests/func/win_device.c tests/func/device.h tests/func/device_mem.c \
	$(func_check)
tests_func_win_device_LDADD = $(func_ldadd)
tests_func_win_SOURCES = tests/func/win.c tests/func/win_epochs.c tests/func/win_ops.c tests/func/win.h \
	$(func_check)
tests_func_win_LDADD = $(func_ldadd)
tests_func_win_random_SOURCES = tests/func/win_random.c tests/func/win_types.c tests/func/win_types.h \
	tests/func/device.h tests/func/device_mem.c $(func_check)
tests_func_win_random_LDADD = $(func_ldadd)
# Revocation, agreement and shrink where nobody dies.
check_PROGRAMS += tests/func/failures
tests_func_failures_SOURCES = tests/func/failures.c $(func_check)
tests_func_failures_LDADD = $(func_ldadd)
