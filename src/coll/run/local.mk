# coll/run: the runner.
libctcore_la_SOURCES += \
	src/coll/run/shm_coll.c src/coll/run/shm_coll.h src/coll/run/shm_coll_attach.c src/coll/run/shm_coll_run.c \
	src/coll/run/common.c src/coll/run/direct.c \
	src/coll/run/layout.c src/coll/run/layout.h \
	src/coll/run/levels.c \
	src/coll/run/plan.c src/coll/run/plan.h \
	src/coll/run/shm_allgather.c src/coll/run/run.c src/coll/run/run.h \
	src/coll/run/script.c src/coll/run/script.h
