# comm: communicators.
libctcore_la_SOURCES += \
	src/comm/comm.c src/comm/comm.h src/comm/comms.h \
	src/comm/create.c src/comm/distance.c src/comm/group.c src/comm/group.h \
	src/comm/hardware.c src/comm/hardware.h \
	src/comm/hints.c src/comm/hints.h \
	src/comm/idup.c src/comm/inter.c src/comm/inter.h \
	src/comm/port.c src/comm/port.h \
	src/comm/reorder.c src/comm/split.c src/comm/survivors.c src/comm/vtopo.c src/comm/vtopo.h \
	src/comm/vtopo_create.c src/comm/vtopo_near.c
