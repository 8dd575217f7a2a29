# ctran_sim: collective algorithms on a clock.
bin_PROGRAMS += tools/sim/ctran_sim
tools_sim_ctran_sim_SOURCES = \
	tools/sim/alive.c \
	tools/sim/cluster.c \
	tools/sim/cores.c \
	tools/sim/engine.c \
	tools/sim/engine.h \
	tools/sim/host.c \
	tools/sim/links.c \
	tools/sim/mail.c \
	tools/sim/main.c \
	tools/sim/message.c \
	tools/sim/net.c \
	tools/sim/pages.c \
	tools/sim/picks.c \
	tools/sim/plot.c \
	tools/sim/queue.c \
	tools/sim/report.c \
	tools/sim/sim.h \
	tools/sim/starts.c \
	tools/sim/sum.c \
	tools/sim/trace.c \
	tools/sim/vector.c \
	tools/sim/wave.c
tools_sim_ctran_sim_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tools_sim_ctran_sim_LDADD = libctpictures.la libctcore.la -lm
dist_man_MANS += man/ctran_sim.1
clustersdir = $(datadir)/ctran/clusters
dist_clusters_DATA = \
	tools/sim/clusters/buildings.cluster \
	tools/sim/clusters/cpus.cluster \
	tools/sim/clusters/flat.cluster \
	tools/sim/clusters/gpus.cluster \
	tools/sim/clusters/groups.cluster \
	tools/sim/clusters/slow.cluster
TESTS += tests/func/sim.py tests/func/sim_shown.py
EXTRA_DIST += tests/func/sim.py tests/func/sim_shown.py
tests/func/sim.log tests/func/sim_shown.log: tools/sim/ctran_sim$(EXEEXT)

# Tables of algorithms made of what it finds. What is common with ctran_perf --tune lies with that.
dist_bin_SCRIPTS += tools/sim/ctran_sim_tune
simtunedir = $(datadir)/ctran/sim
dist_simtune_DATA = \
	tools/sim/tune/rules.py \
	tools/sim/tune/simulated.py
dist_man_MANS += man/ctran_sim_tune.1
TESTS += tests/func/sim_tune.py
EXTRA_DIST += tests/func/sim_tune.py
tests/func/sim_tune.log: tools/sim/ctran_sim$(EXEEXT) tools/ctran_info$(EXEEXT)
