/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of the program errors: arguments and times (errors.c), and results without a place. */
#ifndef CT_TESTS_FUNC_ERRORS_H
#define CT_TESTS_FUNC_ERRORS_H

#include "check.h"

void errors_null(void);

#endif
