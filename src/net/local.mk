# net: transports.
libctcore_la_SOURCES += \
	src/net/net.c src/net/net.h src/net/transports.h \
	src/net/nvl.c src/net/nvl.h \
	src/net/rma.c src/net/rma.h \
	src/net/self.c \
	src/net/shm.c \
	src/net/shm_copy.c src/net/shm_copy.h \
	src/net/shm_own.h \
	src/net/shm_rma.c src/net/shm_rma.h \
	src/net/shm_share.c src/net/shm_share.h \
	src/net/tcp.c src/net/tcp.h src/net/tcp_proto.h \
	src/net/tcp_addr.c \
	src/net/tcp_conn.c \
	src/net/tcp_in.c src/net/tcp_in.h \
	src/net/tcp_stream.c \
	src/net/tcp_out.c src/net/tcp_out.h src/net/tcp_pool.c src/net/tcp_pool.h \
	src/net/tcp_peer.c src/net/tcp_rma.c \
	src/net/tcp_wait.c
if HAVE_VERBS
# What is loaded at run time has its header here alone.
libctcore_la_SOURCES += $(net_ib_sources)
libctcore_la_CPPFLAGS += $(VERBS_CFLAGS)
endif
net_ib_sources = \
	src/net/ib/cm.c src/net/ib/devices.c src/net/ib/ib.c src/net/ib/ib.h src/net/ib/qpset.c \
	src/net/ib/limits.c src/net/ib/memory.c src/net/ib/message.c src/net/ib/order.h \
	src/net/ib/path.c src/net/ib/peer.c src/net/ib/port.c src/net/ib/proto.h src/net/ib/read.c \
	src/net/ib/rma.c src/net/ib/verbs.c src/net/ib/verbs.h src/net/ib/write.c
EXTRA_DIST += $(net_ib_sources)
