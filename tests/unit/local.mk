# tests/unit: one floor's part at a time, in one process, without network. The programs test_ranks_*
# hold many ranks, each a thread.

if HAVE_CMOCKA
unit_tests = \
	tests/unit/test_area \
	tests/unit/test_auth \
	tests/unit/test_block \
	tests/unit/test_calibration \
	tests/unit/test_records \
	tests/unit/test_cluster \
	tests/unit/test_codes \
	tests/unit/test_config \
	tests/unit/test_distance \
	tests/unit/test_domain \
	tests/unit/test_dtype \
	tests/unit/test_error \
	tests/unit/test_gpu \
	tests/unit/test_blocked \
	tests/unit/test_hosts \
	tests/unit/test_kernels \
	tests/unit/test_kernels_edges \
	tests/unit/test_labels \
	tests/unit/test_ring_pair \
	tests/unit/test_layout \
	tests/unit/test_attach \
	tests/unit/test_list \
	tests/unit/test_lock \
	tests/unit/test_log \
	tests/unit/test_machine \
	tests/unit/test_machine_share \
	tests/unit/test_machine_sysfs \
	tests/unit/test_match \
	tests/unit/test_mem \
	tests/unit/test_mem_peers \
	tests/unit/test_nodes \
	tests/unit/test_oob \
	tests/unit/test_nvml \
	tests/unit/test_op \
	tests/unit/test_op_parts \
	tests/unit/test_op_user \
	tests/unit/test_nt_copy \
	tests/unit/test_place \
	tests/unit/test_router \
	tests/unit/test_proto \
	tests/unit/test_protocol \
	tests/unit/test_rail \
	tests/unit/test_rail_map \
	tests/unit/test_published \
	tests/unit/test_ranks_coll \
	tests/unit/test_ranks_fail \
	tests/unit/test_ranks_host \
	tests/unit/test_ranks_flow \
	tests/unit/test_ranks_inter \
	tests/unit/test_ranks_p2p \
	tests/unit/test_ranks_idle \
	tests/unit/test_ranks_left \
	tests/unit/test_ranks_attach \
	tests/unit/test_ranks_read \
	tests/unit/test_ranks_region \
	tests/unit/test_ranks_locations \
	tests/unit/test_ranks_traffic \
	tests/unit/test_reorder \
	tests/unit/test_ring \
	tests/unit/test_shm_allgather \
	tests/unit/test_placement \
	tests/unit/test_select \
	tests/unit/test_shm_full \
	tests/unit/test_shm_segment \
	tests/unit/test_shm_share \
	tests/unit/test_slab \
	tests/unit/test_store \
	tests/unit/test_synthetic \
	tests/unit/test_tcp_end \
	tests/unit/test_tcp_stream \
	tests/unit/test_tokens \
	tests/unit/test_trace \
	tests/unit/test_types \
	tests/unit/test_wait \
	tests/unit/test_win_facts
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
unit_cflags = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_ldadd = libctcore.la $(CMOCKA_LIBS)

tests_unit_test_dtype_CFLAGS = $(unit_cflags)
tests_unit_test_dtype_LDADD = $(unit_ldadd) -lm
tests_unit_test_op_CFLAGS = $(unit_cflags)
tests_unit_test_op_LDADD = $(unit_ldadd) -lm
# The reference product is two roundings, as the kernels' is.
tests_unit_test_op_parts_SOURCES = tests/unit/test_op_parts.c tests/unit/unit.h
tests_unit_test_op_parts_CFLAGS = $(unit_cflags) -ffp-contract=off
tests_unit_test_op_parts_LDADD = $(unit_ldadd) -lm
tests_unit_test_op_user_SOURCES = tests/unit/test_op_user.c tests/unit/unit.h
tests_unit_test_op_user_CFLAGS = $(unit_cflags)
tests_unit_test_op_user_LDADD = $(unit_ldadd)
tests_unit_test_ring_pair_SOURCES = tests/unit/test_ring_pair.c tests/unit/unit.h
tests_unit_test_ring_pair_CFLAGS = $(unit_cflags)
tests_unit_test_ring_pair_LDADD = $(unit_ldadd) -lpthread
tests_unit_test_attach_SOURCES = tests/unit/test_attach.c tests/unit/unit.h
tests_unit_test_attach_CFLAGS = $(unit_cflags)
tests_unit_test_attach_LDADD = $(unit_ldadd) -lpthread

# Has its own copy of config.c, with a site folder that the test may write.
tests_unit_test_config_SOURCES = tests/unit/test_config.c tests/unit/unit.h src/base/config.c
tests_unit_test_config_CPPFLAGS = $(AM_CPPFLAGS) -DCT_SYSCONFDIR='"site"'
tests_unit_test_config_CFLAGS = $(unit_cflags)
tests_unit_test_config_LDADD = $(unit_ldadd)

tests_unit_test_cluster_SOURCES = tests/unit/test_cluster.c tests/unit/unit.h
tests_unit_test_cluster_CFLAGS = $(unit_cflags)
tests_unit_test_cluster_LDADD = $(unit_ldadd)
tests_unit_test_codes_SOURCES = tests/unit/test_codes.c tests/unit/unit.h
tests_unit_test_codes_CFLAGS = $(unit_cflags)
tests_unit_test_codes_LDADD = $(unit_ldadd) -lpthread
tests_unit_test_error_SOURCES = tests/unit/test_error.c tests/unit/unit.h
tests_unit_test_error_CFLAGS = $(unit_cflags)
tests_unit_test_error_LDADD = $(unit_ldadd)
tests_unit_test_trace_SOURCES = tests/unit/test_trace.c tests/unit/unit.h
tests_unit_test_trace_CFLAGS = $(unit_cflags)
tests_unit_test_trace_LDADD = $(unit_ldadd)
# The launcher's parts, which are in no library.
tests_unit_test_blocked_SOURCES = tests/unit/test_blocked.c tests/unit/unit.h
tests_unit_test_blocked_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir) \
	$(EVENT_CFLAGS)
tests_unit_test_blocked_CFLAGS = $(unit_cflags)
tests_unit_test_blocked_LDADD = libctlaunch.la $(unit_ldadd) $(EVENT_LIBS)
tests_unit_test_hosts_SOURCES = tests/unit/test_hosts.c tests/unit/unit.h
tests_unit_test_hosts_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir) \
	$(EVENT_CFLAGS)
tests_unit_test_hosts_CFLAGS = $(unit_cflags)
tests_unit_test_hosts_LDADD = libctlaunch.la $(unit_ldadd) $(EVENT_LIBS)
tests_unit_test_nt_copy_SOURCES = tests/unit/test_nt_copy.c tests/unit/unit.h
tests_unit_test_nt_copy_CFLAGS = $(unit_cflags)
tests_unit_test_nt_copy_LDADD = $(unit_ldadd)
tests_unit_test_place_SOURCES = tests/unit/test_place.c tests/unit/unit.h
tests_unit_test_place_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir) \
	$(EVENT_CFLAGS)
tests_unit_test_place_CFLAGS = $(unit_cflags)
tests_unit_test_place_LDADD = libctlaunch.la $(unit_ldadd)
tests_unit_test_router_SOURCES = tests/unit/test_router.c tests/unit/unit.h
tests_unit_test_router_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir) \
	$(EVENT_CFLAGS)
tests_unit_test_router_CFLAGS = $(unit_cflags)
tests_unit_test_router_LDADD = libctlaunch.la $(unit_ldadd) $(EVENT_LIBS)
tests_unit_test_proto_SOURCES = tests/unit/test_proto.c tests/unit/unit.h
tests_unit_test_proto_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir) \
	$(EVENT_CFLAGS)
tests_unit_test_proto_CFLAGS = $(unit_cflags)
tests_unit_test_proto_LDADD = libctlaunch.la $(unit_ldadd) $(EVENT_LIBS)
tests_unit_test_published_SOURCES = tests/unit/test_published.c tests/unit/unit.h
tests_unit_test_published_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir) \
	$(EVENT_CFLAGS)
tests_unit_test_published_CFLAGS = $(unit_cflags)
tests_unit_test_published_LDADD = libctlaunch.la $(unit_ldadd) $(EVENT_LIBS)
tests_unit_test_area_SOURCES = tests/unit/test_area.c tests/unit/unit.h
tests_unit_test_area_CFLAGS = $(unit_cflags)
tests_unit_test_area_LDADD = $(unit_ldadd)
tests_unit_test_auth_SOURCES = tests/unit/test_auth.c tests/unit/unit.h
tests_unit_test_auth_CFLAGS = $(unit_cflags)
tests_unit_test_auth_LDADD = $(unit_ldadd)
tests_unit_test_block_SOURCES = tests/unit/test_block.c tests/unit/unit.h
tests_unit_test_block_CFLAGS = $(unit_cflags)
tests_unit_test_block_LDADD = $(unit_ldadd)
tests_unit_test_calibration_SOURCES = tests/unit/test_calibration.c tests/unit/unit.h
tests_unit_test_calibration_CFLAGS = $(unit_cflags)
tests_unit_test_calibration_LDADD = $(unit_ldadd)
tests_unit_test_records_SOURCES = tests/unit/test_records.c tests/unit/unit.h
tests_unit_test_records_CFLAGS = $(unit_cflags)
tests_unit_test_records_LDADD = $(unit_ldadd) -lpthread
tests_unit_test_nodes_SOURCES = tests/unit/test_nodes.c tests/unit/unit.h
tests_unit_test_nodes_CFLAGS = $(unit_cflags) $(EVENT_CFLAGS)
tests_unit_test_nodes_LDADD = $(unit_ldadd) -lpthread
tests_unit_test_distance_SOURCES = tests/unit/test_distance.c tests/unit/unit.h
tests_unit_test_distance_CFLAGS = $(unit_cflags)
tests_unit_test_distance_LDADD = $(unit_ldadd)
tests_unit_test_kernels_SOURCES = tests/unit/test_kernels.c tests/unit/kernels.h tests/unit/unit.h
tests_unit_test_kernels_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tests_unit_test_kernels_CFLAGS = $(unit_cflags)
tests_unit_test_kernels_LDADD = $(unit_ldadd)
tests_unit_test_kernels_edges_SOURCES = tests/unit/test_kernels_edges.c tests/unit/kernels.h tests/unit/unit.h
tests_unit_test_kernels_edges_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tests_unit_test_kernels_edges_CFLAGS = $(unit_cflags)
tests_unit_test_kernels_edges_LDADD = $(unit_ldadd)
tests_unit_test_labels_SOURCES = tests/unit/test_labels.c tests/unit/unit.h
tests_unit_test_labels_CFLAGS = $(unit_cflags)
tests_unit_test_labels_LDADD = $(unit_ldadd)
tests_unit_test_layout_SOURCES = tests/unit/test_layout.c tests/unit/unit.h
tests_unit_test_layout_CFLAGS = $(unit_cflags)
tests_unit_test_layout_LDADD = $(unit_ldadd)
tests_unit_test_list_SOURCES = tests/unit/test_list.c tests/unit/unit.h
tests_unit_test_list_CFLAGS = $(unit_cflags)
tests_unit_test_list_LDADD = $(unit_ldadd)
tests_unit_test_lock_SOURCES = tests/unit/test_lock.c tests/unit/unit.h
tests_unit_test_lock_CFLAGS = $(unit_cflags)
tests_unit_test_lock_LDADD = $(unit_ldadd) -lpthread
tests_unit_test_log_SOURCES = tests/unit/test_log.c tests/unit/unit.h
tests_unit_test_log_CFLAGS = $(unit_cflags)
tests_unit_test_log_LDADD = $(unit_ldadd)
machine_cppflags = $(AM_CPPFLAGS) $(HWLOC_CFLAGS)
tests_unit_test_machine_SOURCES = tests/unit/test_machine.c tests/unit/machines.h tests/unit/unit.h
tests_unit_test_machine_CPPFLAGS = $(machine_cppflags)
tests_unit_test_machine_CFLAGS = $(unit_cflags)
tests_unit_test_machine_LDADD = $(unit_ldadd) $(HWLOC_LIBS)
tests_unit_test_machine_share_SOURCES = tests/unit/test_machine_share.c tests/unit/unit.h
tests_unit_test_machine_share_CFLAGS = $(unit_cflags)
tests_unit_test_machine_share_LDADD = $(unit_ldadd) -lpthread
tests_unit_test_machine_sysfs_SOURCES = tests/unit/test_machine_sysfs.c tests/unit/machines.h \
	tests/unit/unit.h
tests_unit_test_machine_sysfs_CPPFLAGS = $(machine_cppflags)
tests_unit_test_machine_sysfs_CFLAGS = $(unit_cflags)
tests_unit_test_machine_sysfs_LDADD = $(unit_ldadd) $(HWLOC_LIBS)
tests_unit_test_protocol_SOURCES = tests/unit/test_protocol.c tests/unit/unit.h
tests_unit_test_protocol_CFLAGS = $(unit_cflags)
tests_unit_test_protocol_LDADD = $(unit_ldadd)
tests_unit_test_match_SOURCES = tests/unit/test_match.c tests/unit/unit.h
tests_unit_test_match_CFLAGS = $(unit_cflags)
tests_unit_test_match_LDADD = $(unit_ldadd)
tests_unit_test_rail_SOURCES = tests/unit/test_rail.c tests/unit/rails.h tests/unit/unit.h
tests_unit_test_rail_CFLAGS = $(unit_cflags)
tests_unit_test_rail_LDADD = $(unit_ldadd)
tests_unit_test_rail_map_SOURCES = tests/unit/test_rail_map.c tests/unit/rails.h tests/unit/unit.h
tests_unit_test_rail_map_CFLAGS = $(unit_cflags)
tests_unit_test_rail_map_LDADD = $(unit_ldadd)
tests_unit_test_reorder_SOURCES = tests/unit/test_reorder.c tests/unit/unit.h
tests_unit_test_reorder_CFLAGS = $(unit_cflags)
tests_unit_test_reorder_LDADD = $(unit_ldadd)
tests_unit_test_ring_SOURCES = tests/unit/test_ring.c tests/unit/unit.h
tests_unit_test_ring_CFLAGS = $(unit_cflags)
tests_unit_test_ring_LDADD = $(unit_ldadd)

tests_unit_test_shm_allgather_SOURCES = tests/unit/test_shm_allgather.c tests/unit/unit.h
tests_unit_test_shm_allgather_CFLAGS = $(unit_cflags)
tests_unit_test_shm_allgather_LDADD = $(unit_ldadd)
tests_unit_test_placement_SOURCES = tests/unit/test_placement.c tests/unit/unit.h
tests_unit_test_placement_CFLAGS = $(unit_cflags)
tests_unit_test_placement_LDADD = $(unit_ldadd)
tests_unit_test_select_SOURCES = tests/unit/test_select.c tests/unit/unit.h
tests_unit_test_select_CFLAGS = $(unit_cflags)
tests_unit_test_select_LDADD = $(unit_ldadd)
tests_unit_test_shm_full_SOURCES = tests/unit/test_shm_full.c tests/unit/unit.h
tests_unit_test_shm_full_CFLAGS = $(unit_cflags)
tests_unit_test_shm_full_LDADD = $(unit_ldadd)
tests_unit_test_shm_share_SOURCES = tests/unit/test_shm_share.c tests/unit/unit.h
tests_unit_test_shm_share_CFLAGS = $(unit_cflags)
tests_unit_test_shm_share_LDADD = $(unit_ldadd) -lpthread
tests_unit_test_shm_segment_SOURCES = tests/unit/test_shm_segment.c tests/unit/unit.h
tests_unit_test_shm_segment_CFLAGS = $(unit_cflags)
tests_unit_test_shm_segment_LDADD = $(unit_ldadd)
tests_unit_test_tcp_end_SOURCES = tests/unit/test_tcp_end.c tests/unit/unit.h
tests_unit_test_tcp_end_CFLAGS = $(unit_cflags)
tests_unit_test_tcp_end_LDADD = $(unit_ldadd)
tests_unit_test_tcp_stream_SOURCES = tests/unit/test_tcp_stream.c tests/unit/unit.h
tests_unit_test_tcp_stream_CFLAGS = $(unit_cflags)
tests_unit_test_tcp_stream_LDADD = $(unit_ldadd)
tests_unit_test_slab_SOURCES = tests/unit/test_slab.c tests/unit/unit.h
tests_unit_test_slab_CFLAGS = $(unit_cflags)
tests_unit_test_slab_LDADD = $(unit_ldadd)
tests_unit_test_store_SOURCES = tests/unit/test_store.c tests/unit/unit.h
tests_unit_test_store_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS)
tests_unit_test_store_CFLAGS = $(unit_cflags)
tests_unit_test_store_LDADD = $(unit_ldadd)
# Libraries that play NVML, in folders for LD_LIBRARY_PATH.
nvml_fakes = \
	tests/unit/nvml/broken/libnvidia-ml.so.1 \
	tests/unit/nvml/old/libnvidia-ml.so.1 \
	tests/unit/nvml/whole/libnvidia-ml.so.1
nvml_build = $(AM_V_CCLD)mkdir -p $(@D) && $(CC) $(AM_CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) -fPIC \
	-shared -Wl,-soname,libnvidia-ml.so.1 -o $@ $(srcdir)/tests/unit/nvml_fake.c
tests/unit/nvml/broken/libnvidia-ml.so.1: tests/unit/nvml_fake.c src/topo/nvml.h
	$(nvml_build) -DFAKE_BROKEN
tests/unit/nvml/old/libnvidia-ml.so.1: tests/unit/nvml_fake.c src/topo/nvml.h
	$(nvml_build) -DFAKE_OLD -DFAKE_V1
tests/unit/nvml/whole/libnvidia-ml.so.1: tests/unit/nvml_fake.c src/topo/nvml.h
	$(nvml_build)
check_DATA += $(nvml_fakes)
CLEANFILES += $(nvml_fakes)
EXTRA_DIST += tests/unit/nvml_fake.c
tests_unit_test_nvml_SOURCES = tests/unit/test_nvml.c tests/unit/unit.h
tests_unit_test_nvml_CPPFLAGS = $(AM_CPPFLAGS) -DNVML_DIR='"$(abs_top_builddir)/tests/unit/nvml"'
tests_unit_test_nvml_CFLAGS = $(unit_cflags)
tests_unit_test_nvml_LDADD = $(unit_ldadd)
EXTRA_tests_unit_test_nvml_DEPENDENCIES = $(nvml_fakes)
tests_unit_test_oob_SOURCES = tests/unit/test_oob.c tests/unit/unit.h
tests_unit_test_oob_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS)
tests_unit_test_oob_CFLAGS = $(unit_cflags)
tests_unit_test_oob_LDADD = $(unit_ldadd)
tests_unit_test_synthetic_SOURCES = tests/unit/test_synthetic.c tests/unit/rails.h \
	tests/unit/unit.h
tests_unit_test_synthetic_CFLAGS = $(unit_cflags)
tests_unit_test_synthetic_LDADD = $(unit_ldadd)
tests_unit_test_tokens_SOURCES = tests/unit/test_tokens.c tests/unit/unit.h
tests_unit_test_tokens_CFLAGS = $(unit_cflags)
tests_unit_test_tokens_LDADD = $(unit_ldadd) -lpthread
tests_unit_test_types_SOURCES = tests/unit/test_types.c tests/unit/unit.h \
	tests/typemap.c tests/typemap.h
tests_unit_test_types_CFLAGS = $(unit_cflags)
tests_unit_test_types_LDADD = $(unit_ldadd)
tests_unit_test_wait_SOURCES = tests/unit/test_wait.c tests/unit/unit.h
tests_unit_test_wait_CFLAGS = $(unit_cflags)
tests_unit_test_wait_LDADD = $(unit_ldadd)
tests_unit_test_win_facts_SOURCES = tests/unit/test_win_facts.c tests/unit/unit.h
tests_unit_test_win_facts_CFLAGS = $(unit_cflags)
tests_unit_test_win_facts_LDADD = $(unit_ldadd)
check_LTLIBRARIES += libranks.la
libranks_la_SOURCES = tests/unit/ranks.c
libranks_la_CFLAGS = $(unit_cflags)
ranks_sources = tests/unit/ranks.h tests/unit/unit.h
ranks_ldadd = libranks.la $(unit_ldadd)
tests_unit_test_domain_SOURCES = tests/unit/test_domain.c $(ranks_sources)
tests_unit_test_domain_CFLAGS = $(unit_cflags)
tests_unit_test_domain_LDADD = $(ranks_ldadd) -lpthread
tests_unit_test_ranks_coll_SOURCES = tests/unit/test_ranks_coll.c tests/unit/ranks_call.c \
	tests/unit/ranks_call.h $(ranks_sources)
tests_unit_test_ranks_coll_CFLAGS = $(unit_cflags)
tests_unit_test_ranks_coll_LDADD = $(ranks_ldadd) -lpthread
tests_unit_test_ranks_flow_SOURCES = tests/unit/test_ranks_flow.c $(ranks_sources)
tests_unit_test_ranks_flow_CFLAGS = $(unit_cflags)
tests_unit_test_ranks_flow_LDADD = $(ranks_ldadd) -lpthread
tests_unit_test_ranks_inter_SOURCES = tests/unit/test_ranks_inter.c $(ranks_sources)
tests_unit_test_ranks_inter_CFLAGS = $(unit_cflags)
tests_unit_test_ranks_inter_LDADD = $(ranks_ldadd) -lpthread
tests_unit_test_ranks_fail_SOURCES = tests/unit/test_ranks_fail.c $(ranks_sources)
tests_unit_test_ranks_fail_CFLAGS = $(unit_cflags)
tests_unit_test_ranks_fail_LDADD = $(ranks_ldadd) -lpthread

tests_unit_test_ranks_host_SOURCES = tests/unit/test_ranks_host.c $(ranks_sources)
tests_unit_test_ranks_host_CFLAGS = $(unit_cflags)
tests_unit_test_ranks_host_LDADD = $(ranks_ldadd) -lpthread
tests_unit_test_ranks_traffic_SOURCES = tests/unit/test_ranks_traffic.c $(ranks_sources)
tests_unit_test_ranks_traffic_CFLAGS = $(unit_cflags)
tests_unit_test_ranks_traffic_LDADD = $(ranks_ldadd) -lpthread
tests_unit_test_ranks_locations_SOURCES = tests/unit/test_ranks_locations.c $(ranks_sources)
tests_unit_test_ranks_locations_CFLAGS = $(unit_cflags)
tests_unit_test_ranks_locations_LDADD = $(ranks_ldadd) -lpthread
tests_unit_test_ranks_p2p_SOURCES = tests/unit/test_ranks_p2p.c $(ranks_sources)
tests_unit_test_ranks_p2p_CFLAGS = $(unit_cflags)
tests_unit_test_ranks_p2p_LDADD = $(ranks_ldadd) -lpthread
tests_unit_test_ranks_idle_SOURCES = tests/unit/test_ranks_idle.c $(ranks_sources)
tests_unit_test_ranks_idle_CFLAGS = $(unit_cflags)
tests_unit_test_ranks_idle_LDADD = $(ranks_ldadd) -lpthread
tests_unit_test_ranks_left_SOURCES = tests/unit/test_ranks_left.c $(ranks_sources)
tests_unit_test_ranks_left_CFLAGS = $(unit_cflags)
tests_unit_test_ranks_left_LDADD = $(ranks_ldadd) -lpthread
tests_unit_test_ranks_attach_SOURCES = tests/unit/test_ranks_attach.c $(ranks_sources)
tests_unit_test_ranks_attach_CFLAGS = $(unit_cflags)
tests_unit_test_ranks_attach_LDADD = $(ranks_ldadd) -lpthread
tests_unit_test_ranks_region_SOURCES = tests/unit/test_ranks_region.c $(ranks_sources)
tests_unit_test_ranks_region_CFLAGS = $(unit_cflags)
tests_unit_test_ranks_region_LDADD = $(ranks_ldadd) -lpthread
tests_unit_test_ranks_read_SOURCES = tests/unit/test_ranks_read.c $(ranks_sources)
tests_unit_test_ranks_read_CFLAGS = $(unit_cflags)
tests_unit_test_ranks_read_LDADD = $(ranks_ldadd) -lpthread

# On the emulated driver; they say so and are skipped where it has not been built.
emu_unit_cppflags = $(AM_CPPFLAGS) -DCT_EMU_CUDA='"$(abs_top_builddir)/emu/cuda/libcuda.so.1"'
tests_unit_test_gpu_SOURCES = tests/unit/test_gpu.c tests/unit/emu.h tests/unit/unit.h
tests_unit_test_gpu_CPPFLAGS = $(emu_unit_cppflags)
tests_unit_test_gpu_CFLAGS = $(unit_cflags)
tests_unit_test_gpu_LDADD = $(unit_ldadd)
tests_unit_test_mem_SOURCES = tests/unit/test_mem.c tests/unit/emu.h tests/unit/unit.h
tests_unit_test_mem_CPPFLAGS = $(emu_unit_cppflags)
tests_unit_test_mem_CFLAGS = $(unit_cflags)
tests_unit_test_mem_LDADD = $(unit_ldadd)
tests_unit_test_mem_peers_SOURCES = tests/unit/test_mem_peers.c tests/unit/emu.h tests/unit/unit.h
tests_unit_test_mem_peers_CPPFLAGS = $(emu_unit_cppflags)
tests_unit_test_mem_peers_CFLAGS = $(unit_cflags)
tests_unit_test_mem_peers_LDADD = $(unit_ldadd)
endif
