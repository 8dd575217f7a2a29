# What ctran_info --topology shows: text, JSON and pictures of machines and clusters.
noinst_LTLIBRARIES += libctpictures.la
libctpictures_la_SOURCES = \
	tools/topology/canvas.c tools/topology/canvas.h \
	tools/topology/key_svg.c \
	tools/topology/layout.c tools/topology/layout.h \
	tools/topology/layout_route.c \
	tools/topology/machine_json.c \
	tools/topology/machine_svg.c \
	tools/topology/machine_text.c \
	tools/topology/pictures.h \
	tools/topology/site.c tools/topology/site.h \
	tools/topology/site_hosts.c \
	tools/topology/site_key.c \
	tools/topology/site_load.c tools/topology/site_load.h \
	tools/topology/site_layout.c tools/topology/site_layout.h \
	tools/topology/site_svg.c \
	tools/topology/site_text.c \
	tools/topology/text.c tools/topology/text.h \
	tools/topology/topology.c tools/topology/topology.h \
	tools/topology/view.c tools/topology/view.h
libctpictures_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
libctpictures_la_LIBADD = libcttopo.la libctbase.la
