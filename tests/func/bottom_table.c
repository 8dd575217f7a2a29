/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of bottom_calls.def as functions, and as a table. */
#include "bottom.h"

#define ONLY(name, shape, ...)                                                                     \
    static int go_##name(struct args *a)                                                           \
    {                                                                                              \
        return ctran_##name(__VA_ARGS__);                                                          \
    }
#define BEGIN(name, shape, ...)                                                                    \
    static int go_##name(struct args *a)                                                           \
    {                                                                                              \
        return ctran_##name(__VA_ARGS__, &a->request);                                             \
    }
#define PREPARE(name, shape, ...) BEGIN(name, shape, __VA_ARGS__)
#define TRANSFER(name, shape, ...)                                                                 \
    ONLY(name, shape, __VA_ARGS__)                                                                 \
    BEGIN(i##name, shape, __VA_ARGS__)                                                             \
    BEGIN(name##_init, shape, __VA_ARGS__)
#define FORMS(name, shape, ...)                                                                    \
    ONLY(name, shape, __VA_ARGS__)                                                                 \
    BEGIN(i##name, shape, __VA_ARGS__)                                                             \
    BEGIN(name##_init, shape, __VA_ARGS__, CTRAN_INFO_NULL)
#define ENQUEUE(name, shape, ...) ONLY(name##_enqueue, shape, __VA_ARGS__, a->stream)
#define BY_HAND(name, shape, form, function)
#define WITHOUT(name, why)
#include "bottom_calls.def"
#undef ONLY
#undef BEGIN
#undef PREPARE
#undef TRANSFER
#undef FORMS
#undef ENQUEUE
#undef BY_HAND

#define ROW(name, shape, form, starts, function) {"ctran_" #name, &shape, form, starts, function},
#define ONLY(name, shape, ...)                   ROW(name, shape, NOW, 0, go_##name)
#define BEGIN(name, shape, ...)                  ROW(name, shape, LATER, 0, go_##name)
#define PREPARE(name, shape, ...)                ROW(name, shape, KEPT, 1, go_##name)
#define TRANSFER(name, shape, ...)                                                                 \
    ROW(name, shape, NOW, 0, go_##name)                                                            \
    ROW(i##name, shape, LATER, 0, go_i##name)                                                      \
    ROW(name##_init, shape, KEPT, 1, go_##name##_init)
#define FORMS(name, shape, ...)                                                                    \
    ROW(name, shape, NOW, 0, go_##name)                                                            \
    ROW(i##name, shape, LATER, 0, go_i##name)                                                      \
    ROW(name##_init, shape, KEPT, 2, go_##name##_init)
#define ENQUEUE(name, shape, ...) ROW(name##_enqueue, shape, ON_STREAM, 0, go_##name##_enqueue)

#define BY_HAND(name, shape, form, function) ROW(name, shape, form, 0, function)

const struct row bottom_rows[] = {
#include "bottom_calls.def"
};
const size_t bottom_nrows = LEN(bottom_rows);
