# topo: machines, rails, labels, distances. The launcher and the tools link it beside libctbase.
noinst_LTLIBRARIES += libcttopo.la
libcttopo_la_SOURCES = \
	src/topo/distance.c src/topo/distance.h \
	src/topo/find.c src/topo/find.h \
	src/topo/gpu_map.c \
	src/topo/labels.h \
	src/topo/load.c src/topo/load.h \
	src/topo/load_hwloc.c \
	src/topo/load_nvml.c \
	src/topo/load_sysfs.c \
	src/topo/machine.c src/topo/machine.h \
	src/topo/nvml.h \
	src/topo/order.h \
	src/topo/path.c \
	src/topo/pci.c \
	src/topo/rail.h \
	src/topo/share.c src/topo/share.h \
	src/topo/synthetic.h \
	src/topo/sysfs.c src/topo/sysfs.h \
	src/topo/rail.c src/topo/rail.h \
	src/topo/rail_map.c \
	src/topo/rail_serve.c \
	src/topo/rail_side.h \
	src/topo/share.h \
	src/topo/synthetic.h \
	src/topo/text.c src/topo/text.h \
	src/topo/topo.h
libcttopo_la_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS)
libcttopo_la_LIBADD = $(HWLOC_LIBS)
