# tests/suites: runs other people's suites of MPI programs. The test runs one of our own.
suites_tests = tests/suites/suites.test
dist_check_SCRIPTS += $(suites_tests)
TESTS += $(suites_tests)
EXTRA_DIST += tests/suites/README.md tests/suites/differ.py tests/suites/layout.py \
	tests/suites/mpi_back.h tests/suites/mpi_names.py tests/suites/mpi_small.h \
	tests/suites/plain_memory.c tests/suites/handlers.c tests/suites/rules.py \
	tests/suites/run_osu.py tests/suites/run_suite.py tests/suites/testlist.py \
	tests/suites/own/counts.c tests/suites/own/fails.c tests/suites/own/forever.c \
	tests/suites/own/testlist tests/suites/own/tool.c tests/suites/own/unknown.c
