# mpi: MPI's names and ABI, on libctran. All that is installed of it stands in a tree of its own,
# which programs name as they name any MPI's prefix, so that no other MPI on the machine is hidden.
mpidir = $(pkglibdir)/mpi
mpilibdir = $(mpidir)/lib
mpiincludedir = $(mpidir)/include
mpibindir = $(mpidir)/bin

mpilib_LTLIBRARIES = libmpi_abi.la
libmpi_abi_la_SOURCES = \
	mpi/abi.c \
	mpi/f90.c \
	mpi/front.h \
	mpi/handles.c \
	mpi/misc.c \
	mpi/names.c \
	mpi/status.c \
	mpi/tool.c mpi/tool.h mpi/tool_category.c mpi/tool_cvar.c mpi/tool_event.c mpi/tool_pvar.c \
	mpi/types.c mpi/types.h
include mpi/gen/local.mk
libmpi_abi_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
libmpi_abi_la_CFLAGS = $(AM_CFLAGS) -fvisibility=default -fno-plt
libmpi_abi_la_LIBADD = libctran.la
# The ABI's name is libmpi_abi.so.1.
libmpi_abi_la_LDFLAGS = $(AM_LDFLAGS) -version-info 1:0:0 \
	-Wl,--version-script=$(top_srcdir)/mpi/mpi.map -Wl,--no-undefined
libmpi_abi_la_DEPENDENCIES = libctran.la $(top_srcdir)/mpi/mpi.map
mpiinclude_HEADERS = mpi/mpi.h

mpibin_SCRIPTS = mpi/mpicc mpi/mpicxx mpi/mpiexec
mpi/mpiexec: mpi/mpiexec.in Makefile
	$(AM_V_GEN)$(MKDIR_P) mpi && sed -e 's|@prefix[@]|$(prefix)|' \
	  -e 's|@exec_prefix[@]|$(exec_prefix)|' -e 's|@bindir[@]|$(bindir)|' \
	  $(srcdir)/mpi/mpiexec.in >$@.tmp && chmod +x $@.tmp && mv $@.tmp $@
CLEANFILES += mpi/mpiexec
EXTRA_DIST += mpi/mpi.map mpi/mpiexec.in \
	mpi/abi/calls.def mpi/abi/coll.def mpi/abi/constants.def mpi/abi/files.def mpi/abi/tool.def \
	mpi/abi/types.def mpi/abi/windows.def \
	mpi/calls.py mpi/ctran_h.py mpi/generate.py mpi/header.py mpi/page.py mpi/table.py mpi/text.py

# What generate.py writes is kept in the tree, so that no build needs Python. After a change to the
# table or to ctran.h this writes it anew; until then tests/mpi/current.test fails.
.PHONY: update-mpi
update-mpi:
	$(PYTHON3) $(srcdir)/mpi/generate.py
PYTHON3 = python3
