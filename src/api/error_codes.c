/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error codes: texts, classes, and those of the program. Possible in any thread at any time, where
 * there may be no communicator yet or any more: so these return a wrong argument's code without
 * asking a handler.
 */
#define CT_FOLDER "api"
#include "api/api.h"

static struct ct_codes *codes(void)
{
    return &ct_api_process()->codes;
}

int ctran_error_class(int errorcode, int *errorclass)
{
    return ct_codes_class_of(codes(), errorcode, errorclass);
}

int ctran_error_string(int errorcode, char *string, int *resultlen)
{
    int len = ct_codes_describe(codes(), errorcode, true, string);
    if (len < 0) {
        return CTRAN_ERR_ARG;
    }
    *resultlen = len < CTRAN_MAX_ERROR_STRING ? len : CTRAN_MAX_ERROR_STRING - 1;
    return CTRAN_SUCCESS;
}

int ctran_add_error_class(int *errorclass)
{
    return ct_codes_add_class(codes(), errorclass);
}

int ctran_remove_error_class(int errorclass)
{
    return ct_codes_remove_class(codes(), errorclass);
}

int ctran_add_error_code(int errorclass, int *errorcode)
{
    return ct_codes_add(codes(), errorclass, errorcode);
}

int ctran_remove_error_code(int errorcode)
{
    return ct_codes_remove(codes(), errorcode);
}

int ctran_add_error_string(int errorcode, const char *string)
{
    return string != NULL ? ct_codes_set_text(codes(), errorcode, string) : CTRAN_ERR_ARG;
}

int ctran_remove_error_string(int errorcode)
{
    return ct_codes_remove_text(codes(), errorcode);
}
