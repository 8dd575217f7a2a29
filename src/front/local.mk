# front: what the front end of MPI's names takes besides ctran.h.
libctcore_la_SOURCES += \
	src/front/counters.c \
	src/front/front.c src/front/front.h \
	src/front/vars.c
