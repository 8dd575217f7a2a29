# gpu: the CUDA driver, loaded at run time.
libctcore_la_SOURCES += \
	src/gpu/context.c \
	src/gpu/cuda.h \
	src/gpu/device.c \
	src/gpu/driver.c src/gpu/driver.h \
	src/gpu/fatbin.c \
	src/gpu/gpu.h \
	src/gpu/kind.c \
	src/gpu/copy_stream.c \
	src/gpu/module.c \
	src/gpu/own.h
