# node: what processes of a host share. It stands on base, and is linked with it: the launcher and
# the tools use both.
libctbase_la_SOURCES += \
	src/node/attach.c src/node/attach.h \
	src/node/backoff.c src/node/backoff.h \
	src/node/caches.c src/node/caches.h \
	src/node/calibration.c src/node/calibration.h \
	src/node/calibration_file.c \
	src/node/calibration_measure.c \
	src/node/expose.c \
	src/node/flag.c src/node/flag.h \
	src/node/node.h \
	src/node/nt_copy.c src/node/nt_copy.h \
	src/node/placement.c src/node/placement.h \
	src/node/ring.c src/node/ring.h \
	src/node/ring_pair.c src/node/ring_pair.h \
	src/node/segment.c src/node/segment.h \
	src/node/shm_allgather.c src/node/shm_allgather.h \
	src/node/shmfile.c src/node/shmfile.h \
	src/node/shmsize.h
