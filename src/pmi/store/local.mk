# pmi/store: the key-value service.
libctboot_la_SOURCES += \
	src/pmi/store/client.c src/pmi/store/client.h \
	src/pmi/store/places.c \
	src/pmi/store/proto.c src/pmi/store/proto.h \
	src/pmi/store/server.c \
	src/pmi/store/shard.c \
	src/pmi/store/show.c \
	src/pmi/store/store.h \
	src/pmi/store/sync.c \
	src/pmi/store/table.c src/pmi/store/table.h
