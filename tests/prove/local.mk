# tests/prove: the algorithms of coll/algo, executed symbolically. See prove.h.
check_LTLIBRARIES += libprove.la
libprove_la_SOURCES = \
	tests/prove/memory.c \
	tests/prove/prove.c tests/prove/prove.h \
	tests/prove/state.h \
	tests/prove/steps.c \
	tests/prove/word.c tests/prove/word.h

PROVE_TESTS = tests/prove/test_compose tests/prove/test_costs tests/prove/test_mutants \
	tests/prove/test_neighbour tests/prove/test_prove
check_PROGRAMS += $(PROVE_TESTS)
TESTS += $(PROVE_TESTS)
tests_prove_test_compose_LDADD = libprove.la libctcore.la
tests_prove_test_costs_LDADD = libprove.la libctcore.la
tests_prove_test_mutants_LDADD = libprove.la libctcore.la
tests_prove_test_neighbour_LDADD = libctcore.la
tests_prove_test_prove_LDADD = libprove.la libctcore.la

# The model of agreement, for spin.
dist_check_SCRIPTS += tests/prove/agree.test
TESTS += tests/prove/agree.test
EXTRA_DIST += tests/prove/agree.pml
