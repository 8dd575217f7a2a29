# pmi/oob: the exchange of records. It needs coll/algo, which is in libctcore.
libctboot_la_SOURCES += \
	src/pmi/oob/gather.c src/pmi/oob/gather.h \
	src/pmi/oob/node.c \
	src/pmi/oob/oob.h \
	src/pmi/oob/peers.c \
	src/pmi/oob/rank.c
