# api: the entry points.
libctcore_la_SOURCES += \
	src/api/alltoallw.c src/api/trace.c \
	src/api/api.h \
	src/api/attr.c \
	src/api/buffer.c \
	src/api/buffered.c \
	src/api/cart.c \
	src/api/check.c \
	src/api/coll.c src/api/coll_blocks.c src/api/coll_counts.c src/api/coll_inter.c \
	src/api/coll_call.c src/api/coll_call.h \
	src/api/coll_forms.c src/api/coll_forms.h \
	src/api/comm.c \
	src/api/comm_create.c \
	src/api/comm_info.c \
	src/api/completion.c \
	src/api/dense.c src/api/dense.h \
	src/api/dynamic.c \
	src/api/errhandler.c \
	src/api/error_codes.c \
	src/api/exchange.c \
	src/api/failure.c \
	src/api/errors.c \
	src/api/errors_outside.c \
	src/api/graph.c \
	src/api/grequest.c \
	src/api/group.c \
	src/api/info.c src/api/info_env.c \
	src/api/intercomm.c \
	src/api/inquiry.c \
	src/api/life.c \
	src/api/op.c \
	src/api/memory.c \
	src/api/neighbor.c src/api/neighbor_calls.c \
	src/api/pack.c \
	src/api/p2p.c \
	src/api/partitioned.c \
	src/api/persistent.c \
	src/api/probe.c \
	src/api/requests.c \
	src/api/rma.c \
	src/api/session.c src/api/session_pset.c \
	src/api/spawn.c \
	src/api/stream.h src/api/stream_coll.c src/api/stream_dynamic.c src/api/stream_p2p.c \
	src/api/stream_reduce.c \
	src/api/transfer.c \
	src/api/type.c src/api/type_construct.c src/api/type_array.c \
	src/api/type_attr.c src/api/type_contents.c \
	src/api/win.c src/api/win.h src/api/win_attr.c src/api/win_signal.c src/api/win_stream.c src/api/win_sync.c \
	src/api/world.c
