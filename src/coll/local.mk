# coll: the collective calls.
libctcore_la_SOURCES += \
	src/coll/calls.c src/coll/coll.h src/coll/drive.c \
	src/coll/inter.c src/coll/levels.c src/coll/neighbor.c \
	src/coll/select.c
