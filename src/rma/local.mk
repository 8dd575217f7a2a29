# rma: windows.
libctcore_la_SOURCES += \
	src/rma/device.c \
	src/rma/dynamic.c \
	src/rma/elem.c \
	src/rma/hints.c \
	src/rma/lock.c \
	src/rma/make.c src/rma/make.h \
	src/rma/msg.c \
	src/rma/op.c \
	src/rma/own.h src/rma/rma.h \
	src/rma/signal.c \
	src/rma/sync.c \
	src/rma/wait.c \
	src/rma/win.c
