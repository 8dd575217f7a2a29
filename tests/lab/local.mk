# tests/lab: the library under launchers that are not its own.
check_PROGRAMS += tests/lab/probe
tests_lab_probe_SOURCES = tests/lab/probe.c
tests_lab_probe_CPPFLAGS = $(AM_CPPFLAGS) $(PMIX_CFLAGS)
tests_lab_probe_LDADD = $(PMIX_LIBS)

lab_tests = tests/lab/hosts.test tests/lab/mpirun.test tests/lab/slurm.test
dist_check_SCRIPTS += $(lab_tests)
TESTS += $(lab_tests)
EXTRA_DIST += tests/lab/lab.sh
