# stream: calls that are ordered on a CUDA stream.
libctcore_la_SOURCES += \
	src/stream/alike.c src/stream/alike.h \
	src/stream/armed.c \
	src/stream/branch.c \
	src/stream/chain.c src/stream/chain.h \
	src/stream/context.c src/stream/context.h \
	src/stream/copy.c \
	src/stream/direct.c src/stream/direct.h \
	src/stream/end.c \
	src/stream/enqueue.c \
	src/stream/exchange.c src/stream/exchange.h src/stream/meet.c \
	src/stream/gathering.c src/stream/gathering.h \
	src/stream/graph.c src/stream/graph.h \
	src/stream/group.c \
	src/stream/halves.c src/stream/halves.h \
	src/stream/kernel.c src/stream/kernel.h \
	src/stream/memops.h \
	src/stream/ranks.c \
	src/stream/staged.c src/stream/staged.h \
	src/stream/stream.h \
	src/stream/tokens.c src/stream/tokens.h \
	src/stream/watch.c src/stream/window.c
