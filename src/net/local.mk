# net: transports.
libctcore_la_SOURCES += \
	src/net/net.c src/net/net.h src/net/transports.h \
	src/net/self.c \
	src/net/shm.c \
	src/net/shm_copy.c src/net/shm_copy.h \
	src/net/shm_ring.c src/net/shm_ring.h \
	src/net/shm_share.c src/net/shm_share.h \
	src/net/shm_segment.c src/net/shm_segment.h
