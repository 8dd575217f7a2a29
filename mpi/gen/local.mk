# Written by generate.py; do not edit.
libmpi_abi_la_SOURCES += \
	mpi/gen/coll.c \
	mpi/gen/coll_init.c \
	mpi/gen/coll_request.c \
	mpi/gen/comm.c \
	mpi/gen/dynamic.c \
	mpi/gen/environment.c \
	mpi/gen/files.c \
	mpi/gen/files_2.c \
	mpi/gen/handles.h \
	mpi/gen/info.c \
	mpi/gen/neighbor.c \
	mpi/gen/ops.c \
	mpi/gen/p2p.c \
	mpi/gen/partitioned.c \
	mpi/gen/status.c \
	mpi/gen/topo.c \
	mpi/gen/types.c \
	mpi/gen/windows.c \
	mpi/gen/world.c
