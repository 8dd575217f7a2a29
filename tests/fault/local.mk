# tests/fault: ranks that die while others go on.
check_PROGRAMS += tests/fault/survive
tests_fault_survive_SOURCES = tests/fault/collectives.c tests/fault/fault.h tests/fault/plan.c \
	tests/fault/survive.c tests/fault/traffic.c $(func_check)
tests_fault_survive_LDADD = $(func_ldadd)

check_PROGRAMS += tests/fault/shrink
tests_fault_shrink_SOURCES = tests/fault/fault.h tests/fault/plan.c tests/fault/shrink.c \
	$(func_check)
tests_fault_shrink_LDADD = $(func_ldadd)

fault_tests = tests/fault/kills.py tests/fault/shrink.py
TESTS += $(fault_tests)
EXTRA_DIST += $(fault_tests)
# Windows whose rank dies.
check_PROGRAMS += tests/fault/windows
dist_check_SCRIPTS += tests/fault/windows.test
TESTS += tests/fault/windows.test
tests_fault_windows_SOURCES = tests/fault/windows.c $(func_check)
tests_fault_windows_LDADD = $(func_ldadd)
# Cycles of revocation and shrink that leave nothing behind.
check_PROGRAMS += tests/fault/growth
dist_check_SCRIPTS += tests/fault/growth.test
TESTS += tests/fault/growth.test
tests_fault_growth_SOURCES = tests/fault/growth.c $(func_check)
tests_fault_growth_LDADD = $(func_ldadd)
