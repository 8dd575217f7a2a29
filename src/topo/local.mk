# topo: machines, rails, labels, distances. The launcher and the tools link it beside libctbase.
noinst_LTLIBRARIES += libcttopo.la
libcttopo_la_SOURCES = \
	src/topo/cluster.c src/topo/cluster.h \
	src/topo/components.c src/topo/components.h \
	src/topo/describe.c \
	src/topo/distance.c src/topo/distance.h \
	src/topo/find.c src/topo/find.h \
	src/topo/gpu_map.c \
	src/topo/label_file.c \
	src/topo/label_pattern.c \
	src/topo/label_set.h \
	src/topo/label_slurm.c \
	src/topo/labels.c src/topo/labels.h \
	src/topo/load.c src/topo/load.h \
	src/topo/load_hwloc.c \
	src/topo/load_nvml.c \
	src/topo/load_sysfs.c \
	src/topo/machine.c src/topo/machine.h \
	src/topo/nvml.h \
	src/topo/order.c src/topo/order.h \
	src/topo/path.c \
	src/topo/pci.c \
	src/topo/rail.c src/topo/rail.h \
	src/topo/rail_map.c \
	src/topo/rail_serve.c \
	src/topo/rail_side.h \
	src/topo/reorder.h \
	src/topo/reorder_cart.c \
	src/topo/reorder_graph.c \
	src/topo/share.c src/topo/share.h \
	src/topo/slurmlist.c src/topo/slurmlist.h \
	src/topo/synthetic.c src/topo/synthetic.h \
	src/topo/sysfs.c src/topo/sysfs.h \
	src/topo/text.c src/topo/text.h \
	src/topo/topo.h \
	src/topo/trial.c src/topo/trial.h
libcttopo_la_CPPFLAGS = $(AM_CPPFLAGS) -DCT_PKGDATADIR='"$(pkgdatadir)"' $(HWLOC_CFLAGS)
libcttopo_la_LIBADD = $(HWLOC_LIBS)

# Machines that one does not have. The XML files are written by machines.py, which the tests hold
# against them.
machinesdir = $(pkgdatadir)/machines
dist_machines_DATA = \
	src/topo/machines/broken.machine src/topo/machines/broken.xml \
	src/topo/machines/cpu2s.machine src/topo/machines/cpu2s.xml \
	src/topo/machines/dgx-h100.machine src/topo/machines/dgx-h100.xml \
	src/topo/machines/gb200.machine src/topo/machines/gb200.xml \
	src/topo/machines/grace.machine src/topo/machines/grace.xml \
	src/topo/machines/laptop.machine src/topo/machines/laptop.xml \
	src/topo/machines/p4d.machine src/topo/machines/p4d.xml
EXTRA_DIST += src/topo/machines/machines.py
