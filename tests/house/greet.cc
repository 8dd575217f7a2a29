// SPDX-License-Identifier: BSD-3-Clause
// What a C++ program needs to be compiled, linked and started; see install.test.
#include <ctran.h>

#include <iostream>
#include <numeric>
#include <vector>

int main(int argc, char **argv)
{
    int rank = 0, size = 0;
    if (ctran_init(&argc, &argv) != CTRAN_SUCCESS) {
        return 1;
    }
    ctran_comm_rank(CTRAN_COMM_WORLD, &rank);
    ctran_comm_size(CTRAN_COMM_WORLD, &size);
    std::vector<int> all(size);
    const int        mine = rank + 1;
    ctran_allgather(&mine, 1, CTRAN_INT, all.data(), 1, CTRAN_INT, CTRAN_COMM_WORLD);
    if (rank == 0) {
        std::cout << size << " ranks, sum " << std::accumulate(all.begin(), all.end(), 0) << "\n";
    }
    return ctran_finalize() == CTRAN_SUCCESS ? 0 : 1;
}
