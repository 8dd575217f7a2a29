/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of all predefined types, for win_random.c. */
#ifndef CT_TESTS_FUNC_WIN_TYPES_H
#define CT_TESTS_FUNC_WIN_TYPES_H

#include "check.h"

enum { WIDEST = 32, TYPES = 32 }; /* bytes of an element, and types */

enum kind { WHOLE, REAL, SHORT_REAL, COMPLEX, BITS, TRUTH, PAIR, PLAIN };

struct type {
    ctran_datatype_t handle;
    enum kind        kind;
};
extern const struct type types[TYPES];

ctran_count_t extent_of(const struct type *t);
/* A small number as an element; sums of such are exact. */
void store_value(const struct type *t, void *at, int v);
/* An operator that is defined for the type, and for which the order does not matter. */
ctran_op_t draw_op(const struct type *t, uint64_t *rng);
/* Whether two elements are equal, without the gaps in them. */
bool is_same(const struct type *t, const char *a, const char *b);

#endif
