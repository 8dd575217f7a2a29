/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of tests/func/foreign.c where another library is to run the program: all memory is
 * plain, as that library knows nothing of ct_memory. */
#include "../func/foreign.h"

void foreign_from_environment(void)
{
}
