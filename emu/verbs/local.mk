# emu/verbs: InfiniBand verbs that run on the CPU, for LD_LIBRARY_PATH=emu/verbs. Made as emu/cuda is;
# it needs the header of the real library, and no more.
emu_verbs_headers = emu/verbs/emu.h emu/verbs/fabric.h emu/verbs/link.h emu/verbs/wire.h emu/common/common.h
emu_verbs_sources = \
	emu/verbs/address.c emu/verbs/async.c emu/verbs/channel.c emu/verbs/compat.c emu/verbs/context.c \
	emu/verbs/cq.c emu/verbs/cq_ex.c emu/verbs/device.c emu/verbs/events.c emu/verbs/fabric.c \
	emu/verbs/heap.c emu/verbs/link.c emu/verbs/mr.c emu/verbs/nic.c emu/verbs/null.c \
	emu/verbs/path.c emu/verbs/pd.c emu/verbs/port.c emu/verbs/qp.c emu/verbs/qp_ex.c \
	emu/verbs/qp_state.c emu/verbs/rc.c emu/verbs/recv.c emu/verbs/respond.c emu/verbs/ring.c \
	emu/verbs/rq.c emu/verbs/scatter.c emu/verbs/script.c emu/verbs/send.c emu/verbs/settings.c \
	emu/verbs/srq.c emu/verbs/strings.c emu/verbs/wqe.c
EXTRA_DIST += $(emu_verbs_sources) $(emu_verbs_headers) emu/verbs/libibverbs.map.in
if HAVE_VERBS
emu_verbs_objects = $(emu_verbs_sources:.c=.emu.o) $(emu_common_objects)
emu_verbs_cc = $(CC) $(DEFS) $(AM_CPPFLAGS) $(VERBS_CFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) -fPIC

emu/verbs/%.emu.o: emu/verbs/%.c $(emu_verbs_headers)
	$(AM_V_CC)mkdir -p $(@D) && $(emu_verbs_cc) -c -o $@ $<
emu/verbs/libibverbs.map: emu/verbs/libibverbs.map.in Makefile
	$(AM_V_GEN)mkdir -p $(@D) && sed 's/PRIVATE_34/PRIVATE_$(VERBS_PRIVATE)/' \
	$(srcdir)/emu/verbs/libibverbs.map.in >$@
emu/verbs/libibverbs.so.1: $(emu_verbs_objects) emu/verbs/libibverbs.map
	$(AM_V_CCLD)$(emu_verbs_cc) $(LDFLAGS) -shared -Wl,-soname,libibverbs.so.1 -Wl,-z,nodelete \
	-Wl,--version-script=emu/verbs/libibverbs.map -o $@ $(emu_verbs_objects) -lpthread
check_DATA += emu/verbs/libibverbs.so.1
CLEANFILES += emu/verbs/libibverbs.so.1 emu/verbs/libibverbs.map $(emu_verbs_objects)
endif
