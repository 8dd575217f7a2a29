# p2p: matched messages.
libctcore_la_SOURCES += \
	src/p2p/buffer.c \
	src/p2p/failure.c \
	src/p2p/flow.c src/p2p/flow.h \
	src/p2p/match.c src/p2p/match.h \
	src/p2p/move.c \
	src/p2p/p2p.c src/p2p/p2p.h src/p2p/state.h \
	src/p2p/part.c \
	src/p2p/probe.c \
	src/p2p/protocol.c src/p2p/protocol.h \
	src/p2p/remote.c \
	src/p2p/rendezvous.c src/p2p/rndv_recv.c \
	src/p2p/rest.c \
	src/p2p/stage.c \
	src/p2p/watch.c
