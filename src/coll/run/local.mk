# coll/run: the runner.
libctcore_la_SOURCES += \
	src/coll/run/board.c src/coll/run/board.h src/coll/run/board_lend.c src/coll/run/board_run.c \
	src/coll/run/common.c \
	src/coll/run/layout.c src/coll/run/layout.h \
	src/coll/run/levels.c \
	src/coll/run/plan.c src/coll/run/plan.h \
	src/coll/run/roll.c src/coll/run/run.c src/coll/run/run.h \
	src/coll/run/script.c src/coll/run/script.h
