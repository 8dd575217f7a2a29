# tests/mpi: MPI's front end. Its programs see mpi.h alone.
check_PROGRAMS += tests/mpi/program tests/mpi/traced
tests_mpi_program_SOURCES = tests/mpi/program.c
tests_mpi_program_CPPFLAGS = -I$(top_srcdir)/mpi
tests_mpi_program_LDADD = libmpi_abi.la
tests_mpi_program_LDFLAGS = -no-install
tests_mpi_traced_SOURCES = tests/mpi/traced.c
tests_mpi_traced_CPPFLAGS = -I$(top_srcdir)/mpi
tests_mpi_traced_LDADD = libmpi_abi.la
tests_mpi_traced_LDFLAGS = -no-install
mpi_tests = tests/mpi/mpi.test tests/mpi/mpiexec.test
dist_check_SCRIPTS += $(mpi_tests)
TESTS += $(mpi_tests)
EXTRA_DIST += examples/mpi_trace.c tests/mpi/compare.py
