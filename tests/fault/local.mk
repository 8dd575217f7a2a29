# tests/fault: ranks that die while others go on.
check_PROGRAMS += tests/fault/survive
tests_fault_survive_SOURCES = tests/fault/collectives.c tests/fault/fault.h tests/fault/plan.c \
	tests/fault/survive.c tests/fault/traffic.c $(func_check)
tests_fault_survive_LDADD = $(func_ldadd)

fault_tests = tests/fault/kills.py
TESTS += $(fault_tests)
EXTRA_DIST += $(fault_tests)
# Windows whose rank dies.
check_PROGRAMS += tests/fault/windows
dist_check_SCRIPTS += tests/fault/windows.test
TESTS += tests/fault/windows.test
tests_fault_windows_SOURCES = tests/fault/windows.c $(func_check)
tests_fault_windows_LDADD = $(func_ldadd)
