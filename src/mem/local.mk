# mem: memory of every kind.
libctcore_la_SOURCES += \
	src/mem/area.c \
	src/mem/blocks.c \
	src/mem/freed.c \
	src/mem/copy.c \
	src/mem/export.c \
	src/mem/import.c \
	src/mem/mem.c src/mem/mem.h \
	src/mem/own.h \
	src/mem/pinned.c \
	src/mem/pool.c \
	src/mem/reg.c \
	src/mem/register.c \
	src/mem/small.c
