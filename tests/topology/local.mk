# tests/topology: what ctran_info shows of machines and clusters, in all forms.
check_PROGRAMS += tests/topology/clusters tests/topology/machines
tests_topology_clusters_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tests_topology_clusters_LDADD = libctpictures.la
tests_topology_machines_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tests_topology_machines_LDADD = libctpictures.la
TESTS += tests/topology/pictures.py
tests/topology/pictures.log: tests/topology/clusters$(EXEEXT) tests/topology/machines$(EXEEXT)
TESTS += tests/topology/shown.py
tests/topology/shown.log: tools/ctran_info$(EXEEXT)
EXTRA_DIST += tests/topology/forms.h tests/topology/check_svg.py tests/topology/pictures.py tests/topology/shown.py
