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
