# ep: endpoints.
libctcore_la_SOURCES += \
	src/ep/record.c \
	src/ep/connect.c \
	src/ep/events.c \
	src/ep/domain.c src/ep/domain.h \
	src/ep/ep.c src/ep/ep.h src/ep/ep_set.h \
	src/ep/rkey.c src/ep/rma.c src/ep/rma.h src/ep/rma_am.c src/ep/rma_own.h \
	src/ep/region.c src/ep/region.h src/ep/region_own.h \
	src/ep/idle.c src/ep/polls.c \
	src/ep/locations.c src/ep/traffic.c src/ep/task.c src/ep/thread.c \
	src/ep/ways.h
