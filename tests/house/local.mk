# tests/house: the rules of the tree, held against its files and against what is built.
house_tests = \
	tests/house/buffers.test \
	tests/house/exports.test \
	tests/house/floors.test \
	tests/house/headers.test \
	tests/house/install.test \
	tests/house/kernels.test \
	tests/house/machines.test \
	tests/house/pages.test \
	tests/house/scripts.test \
	tests/house/style.test
dist_check_SCRIPTS += $(house_tests)
TESTS += $(house_tests)
EXTRA_DIST += tests/house/calls.py tests/house/check_floors.py tests/house/check_style.py tests/house/check_cuda.py \
	tests/house/check_buffers.py \
	tests/house/greet.cc
