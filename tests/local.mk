# Tests. *.test are shell scripts that source tests/lib.sh; the others are programs of their own.
# Exit status 77 means skipped, and the output says what is missing.
TEST_EXTENSIONS = .test
# No test may hang: a script limits each of its runs, and this limits the whole. Longer forms take up
# to an hour where they have the machine to themselves.
LOG_COMPILER = timeout -k 10 $$((900 + 7200 * $${CT_SOAK:-0}))
TEST_LOG_COMPILER = timeout -k 10 $$((1800 + 7200 * $${CT_SOAK:-0})) $(SHELL)
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; top_builddir='$(abs_top_builddir)'; \
	CT_SANITIZER='$(CT_SANITIZER)'; CC='$(CC)'; \
	export top_srcdir top_builddir CT_SANITIZER CC;

include tests/unit/local.mk
include tests/emu/local.mk
include tests/net/local.mk
include tests/prove/local.mk
include tests/launch/local.mk
include tests/func/local.mk
include tests/mpi/local.mk
include tests/gpu/local.mk
include tests/fault/local.mk
include tests/fuzz/local.mk
include tests/suites/local.mk
include tests/lab/local.mk
include tests/topology/local.mk
include tests/house/local.mk

EXTRA_DIST += tests/lib.sh tests/setup.sh \
	tests/suppressions/lsan.supp tests/suppressions/tsan.supp
# For users, too.
dist_pkgdata_DATA = tests/suppressions/ctran.supp
