# dtype: datatypes and reduction operators.
libctcore_la_SOURCES += \
	src/dtype/array.c \
	src/dtype/construct.c \
	src/dtype/contents.c \
	src/dtype/derived.c src/dtype/derived.h \
	src/dtype/dtype.c src/dtype/dtype.h \
	src/dtype/elements.c \
	src/dtype/external32.c \
	src/dtype/flatten.c \
	src/dtype/types.c \
	src/dtype/fp8.h src/dtype/half.h \
	src/dtype/op.c src/dtype/op_table.h \
	src/dtype/op_move.c src/dtype/op_user.c

# The kernels need "omp simd" (which brings no OpenMP runtime) to vectorise at -O2. Where
# clang is told to optimise less, it would complain that it did not. A product and a sum stay two
# roundings: fused, where an instruction set can, complex products would differ between processors.
noinst_LTLIBRARIES += libctkernels.la
libctkernels_la_SOURCES = \
	src/dtype/op_kernels.inc \
	src/dtype/op_base.c src/dtype/op_avx2.c src/dtype/op_avx512.c
libctkernels_la_CFLAGS = $(AM_CFLAGS) -fopenmp-simd -ffp-contract=off -Wno-pass-failed
libctcore_la_LIBADD += libctkernels.la
