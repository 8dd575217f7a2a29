# coll/algo: the algorithms, one file each.
libctcore_la_SOURCES += \
	src/coll/algo/algo.h src/coll/algo/compose.h src/coll/algo/fold.h \
	src/coll/algo/knomial.h src/coll/algo/levels.h src/coll/algo/step.h \
	src/coll/algo/bidirectional_ring.c \
	src/coll/algo/bine.c \
	src/coll/algo/binary_tree.c \
	src/coll/algo/binomial_allgather.c \
	src/coll/algo/bruck_allgather.c \
	src/coll/algo/bruck_alltoall.c \
	src/coll/algo/chain.c \
	src/coll/algo/compose.c \
	src/coll/algo/dissemination.c \
	src/coll/algo/double_tree.c \
	src/coll/algo/doubling_allgather.c \
	src/coll/algo/doubling_allreduce.c \
	src/coll/algo/doubling_scan.c \
	src/coll/algo/folding.c \
	src/coll/algo/halving.c \
	src/coll/algo/hier.c \
	src/coll/algo/hier_alltoall.c \
	src/coll/algo/hier_scan.c \
	src/coll/algo/knomial.c \
	src/coll/algo/knomial_gather.c \
	src/coll/algo/linear.c \
	src/coll/algo/multiplying_allreduce.c \
	src/coll/algo/neighbor_exchange.c \
	src/coll/algo/neighbour.c \
	src/coll/algo/one_shot.c \
	src/coll/algo/pairwise.c \
	src/coll/algo/pairwise_alltoall.c \
	src/coll/algo/pat.c \
	src/coll/algo/rabenseifner.c \
	src/coll/algo/rail.c \
	src/coll/algo/rail_bcast.c \
	src/coll/algo/ring.c \
	src/coll/algo/scatter_allgather.c \
	src/coll/algo/scatter_bruck.c \
	src/coll/algo/table.c
