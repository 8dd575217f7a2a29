# tests/fuzz: what reads bytes of others, under libFuzzer. Each harness is tests/fuzz/fuzz_NAME.c with
# the files that it is about, all built by clang with the sanitizers, whatever builds the rest; what
# they call besides comes from libctcore as it is.
if HAVE_VERBS
fuzz_verbs_names = ib
endif
fuzz_names = $(fuzz_verbs_names) wire store oob tcp open shared rma router family published text \
	topology labels machine tuning calibration win trace
fuzz_wire_parts = src/base/auth.c src/pmi/wire/loop.c
fuzz_store_parts = src/pmi/store/proto.c src/pmi/store/table.c src/pmi/wire/loop.c
fuzz_oob_parts = src/pmi/oob/gather.c src/pmi/oob/peers.c src/pmi/wire/conn.c src/pmi/wire/loop.c
fuzz_tcp_parts = src/net/tcp_addr.c src/net/tcp_in.c src/net/tcp_pool.c
fuzz_open_parts = src/base/auth.c src/net/tcp_addr.c src/net/tcp_in.c src/net/tcp_stream.c \
	src/net/tcp_out.c src/net/tcp_peer.c src/net/tcp_pool.c src/net/tcp_wait.c
fuzz_shared_parts = src/ep/record.c src/net/shm_copy.c src/node/ring.c src/net/shm_rma.c \
	src/net/shm_share.c \
	src/net/tcp.c src/net/tcp_addr.c src/pmi/wire/loop.c
fuzz_rma_parts = src/ep/region.c src/ep/rkey.c src/ep/rma.c src/ep/rma_am.c src/net/rma.c
fuzz_ib_parts = src/base/auth.c src/net/ib/cm.c src/net/ib/ib.c src/net/ib/qpset.c \
	src/net/ib/memory.c src/net/ib/message.c src/net/ib/path.c src/net/ib/peer.c src/net/ib/port.c \
	src/net/ib/read.c src/net/ib/rma.c src/net/ib/write.c
fuzz_router_parts = launcher/tree/launch.c launcher/tree/router.c launcher/tree/router_events.c \
	launcher/tree/router_fence.c launcher/job/jobdesc.c launcher/io/merge.c \
	launcher/msg/conn.c launcher/msg/pack.c launcher/job/ranklist.c \
	launcher/family/spawned_place.c launcher/job/strlist.c launcher/tree/span.c
fuzz_family_parts = launcher/job/jobdesc.c launcher/family/root_get.c launcher/family/root_meet.c \
	launcher/family/messages.c launcher/msg/conn.c launcher/msg/pack.c \
	launcher/family/published.c launcher/family/published_store.c launcher/job/ranklist.c \
	launcher/job/strlist.c
fuzz_published_parts = launcher/job/jobdesc.c launcher/msg/conn.c launcher/msg/pack.c \
	launcher/family/published.c launcher/family/published_store.c launcher/job/ranklist.c \
	launcher/job/strlist.c
fuzz_topology_parts = src/topo/cluster.c src/topo/describe.c src/topo/find.c src/topo/gpu_map.c \
	src/topo/rail.c src/topo/rail_map.c src/topo/rail_serve.c src/topo/text.c
fuzz_text_parts = src/base/auth.c launcher/hosts/list.c launcher/job/ranklist.c src/topo/slurmlist.c
fuzz_labels_parts = src/topo/label_file.c src/topo/label_pattern.c src/topo/label_slurm.c \
	src/topo/labels.c src/topo/slurmlist.c
fuzz_machine_parts = src/topo/machine.c src/topo/path.c src/topo/pci.c
fuzz_calibration_parts = src/node/calibration.c
fuzz_win_parts = src/rma/dynamic.c src/rma/elem.c src/rma/lock.c src/rma/msg.c src/rma/op.c \
	src/rma/wait.c src/rma/win.c
fuzz_trace_parts = src/trace/image.c tools/analyze/graph.c tools/analyze/html.c \
	tools/analyze/json.c tools/analyze/judge.c tools/analyze/load.c tools/analyze/text.c \
	tools/analyze/words.c
fuzz_tuning_parts = src/base/textfile.c src/coll/pick.c src/coll/tuning.c

dist_check_SCRIPTS += tests/fuzz/fuzz.test
TESTS += tests/fuzz/fuzz.test
EXTRA_DIST += tests/fuzz/fuzz.h tests/fuzz/fuzz_ib.c $(fuzz_names:%=tests/fuzz/fuzz_%.c)

if HAVE_FUZZER
fuzz_flags = -std=gnu11 -g -O1 -fno-omit-frame-pointer -fsanitize=fuzzer,address,undefined \
	-fno-sanitize-recover=undefined
fuzz_cppflags = $(DEFS) $(AM_CPPFLAGS) -I$(top_srcdir) -I$(srcdir)/tests/fuzz \
	$(EVENT_CFLAGS) $(SODIUM_CFLAGS) -DHASH_NONFATAL_OOM=1
fuzz_libs = .libs/libctcore.a $(EVENT_LIBS) $(SODIUM_LIBS) $(PMIX_LIBS) $(HWLOC_LIBS) -lpthread -lm
fuzz_objects = $(sort $(foreach n,$(fuzz_names),tests/fuzz/fuzz_$(n).c $(fuzz_$(n)_parts)))

tests/fuzz/o/%.o: $(srcdir)/%.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && \
	  $(FUZZ_CC) $(fuzz_cppflags) $(WARN_CFLAGS) $(fuzz_flags) -MMD -MP -c -o $@ $<

fuzz_link = $(AM_V_CCLD)$(FUZZ_CC) $(fuzz_flags) -o $@ $(filter %.o,$^) $(fuzz_libs)
tests/fuzz/fuzz_wire: tests/fuzz/o/tests/fuzz/fuzz_wire.o \
		$(fuzz_wire_parts:%.c=tests/fuzz/o/%.o) libctcore.la
	$(fuzz_link)
tests/fuzz/fuzz_store: tests/fuzz/o/tests/fuzz/fuzz_store.o \
		$(fuzz_store_parts:%.c=tests/fuzz/o/%.o) libctcore.la
	$(fuzz_link)
tests/fuzz/fuzz_oob: tests/fuzz/o/tests/fuzz/fuzz_oob.o \
		$(fuzz_oob_parts:%.c=tests/fuzz/o/%.o) libctcore.la
	$(fuzz_link)
tests/fuzz/fuzz_tcp: tests/fuzz/o/tests/fuzz/fuzz_tcp.o \
		$(fuzz_tcp_parts:%.c=tests/fuzz/o/%.o) libctcore.la
	$(fuzz_link)
tests/fuzz/fuzz_open: tests/fuzz/o/tests/fuzz/fuzz_open.o \
		$(fuzz_open_parts:%.c=tests/fuzz/o/%.o) libctcore.la
	$(fuzz_link)
tests/fuzz/fuzz_shared: tests/fuzz/o/tests/fuzz/fuzz_shared.o \
		$(fuzz_shared_parts:%.c=tests/fuzz/o/%.o) libctcore.la
	$(fuzz_link)
tests/fuzz/fuzz_win: tests/fuzz/o/tests/fuzz/fuzz_win.o \
		$(fuzz_win_parts:%.c=tests/fuzz/o/%.o) libctcore.la
	$(fuzz_link)
tests/fuzz/fuzz_rma: tests/fuzz/o/tests/fuzz/fuzz_rma.o \
		$(fuzz_rma_parts:%.c=tests/fuzz/o/%.o) libctcore.la
	$(fuzz_link)
tests/fuzz/fuzz_ib: tests/fuzz/o/tests/fuzz/fuzz_ib.o \
		$(fuzz_ib_parts:%.c=tests/fuzz/o/%.o) libctcore.la
	$(fuzz_link)
tests/fuzz/fuzz_router: tests/fuzz/o/tests/fuzz/fuzz_router.o \
		$(fuzz_router_parts:%.c=tests/fuzz/o/%.o) libctcore.la
	$(fuzz_link)
tests/fuzz/fuzz_family: tests/fuzz/o/tests/fuzz/fuzz_family.o \
		$(fuzz_family_parts:%.c=tests/fuzz/o/%.o) libctcore.la
	$(fuzz_link)
tests/fuzz/fuzz_published: tests/fuzz/o/tests/fuzz/fuzz_published.o \
		$(fuzz_published_parts:%.c=tests/fuzz/o/%.o) libctcore.la
	$(fuzz_link)
tests/fuzz/fuzz_text: tests/fuzz/o/tests/fuzz/fuzz_text.o \
		$(fuzz_text_parts:%.c=tests/fuzz/o/%.o) libctcore.la
	$(fuzz_link)
tests/fuzz/fuzz_topology: tests/fuzz/o/tests/fuzz/fuzz_topology.o \
		$(fuzz_topology_parts:%.c=tests/fuzz/o/%.o) libctcore.la
	$(fuzz_link)
tests/fuzz/fuzz_labels: tests/fuzz/o/tests/fuzz/fuzz_labels.o \
		$(fuzz_labels_parts:%.c=tests/fuzz/o/%.o) libctcore.la
	$(fuzz_link)
tests/fuzz/fuzz_machine: tests/fuzz/o/tests/fuzz/fuzz_machine.o \
		$(fuzz_machine_parts:%.c=tests/fuzz/o/%.o) libctcore.la
	$(fuzz_link)
tests/fuzz/fuzz_calibration: tests/fuzz/o/tests/fuzz/fuzz_calibration.o \
		$(fuzz_calibration_parts:%.c=tests/fuzz/o/%.o) libctcore.la
	$(fuzz_link)
tests/fuzz/fuzz_trace: tests/fuzz/o/tests/fuzz/fuzz_trace.o \
		$(fuzz_trace_parts:%.c=tests/fuzz/o/%.o) libctcore.la
	$(fuzz_link)
tests/fuzz/fuzz_tuning: tests/fuzz/o/tests/fuzz/fuzz_tuning.o \
		$(fuzz_tuning_parts:%.c=tests/fuzz/o/%.o) libctcore.la
	$(fuzz_link)

check_fuzz = $(fuzz_names:%=tests/fuzz/fuzz_%)
tests/fuzz/fuzz.log: $(check_fuzz)
.PRECIOUS: tests/fuzz/o/%.o
-include $(patsubst %.c,tests/fuzz/o/%.d,$(fuzz_objects))
CLEANFILES += $(check_fuzz)
clean-local: clean-fuzz
clean-fuzz:
	rm -rf tests/fuzz/o
endif
