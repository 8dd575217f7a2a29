/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and texts of error codes, generated from the public list. */
#include "base/error.h"

#include <stddef.h>

const char *ct_error_name(int code)
{
    switch (code) {
#define X(name, number, lost, text)                                                                \
    case number:                                                                                   \
        return #name;
        CTRAN_ERROR_MAP(X)
#undef X
    default:
        return NULL;
    }
}

const char *ct_error_text(int code)
{
    switch (code) {
#define X(name, number, lost, text)                                                                \
    case number:                                                                                   \
        return text;
        CTRAN_ERROR_MAP(X)
#undef X
    default:
        return NULL;
    }
}

enum ct_error_lost ct_error_lost(int code)
{
    switch (code) {
#define X(name, number, lost, text)                                                                \
    case number:                                                                                   \
        return CT_LOST_##lost;
        CTRAN_ERROR_MAP(X)
#undef X
    default:
        return CT_LOST_process;
    }
}
