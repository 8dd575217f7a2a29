/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error codes that the program adds to those of CTRAN_ERROR_MAP. Their numbers follow
 * CTRAN_ERR_LASTCODE and never come again, so that a removed one is told from a new one. A class is
 * a code that is its own class.
 *
 * They may be added and looked up by any thread at any time, before ctran_init and after
 * ctran_finalize too. So the list has a lock of its own, and its memory goes with the process.
 */
#ifndef CT_BASE_CODES_H
#define CT_BASE_CODES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "ctran.h"

struct ct_code {
    int   error_class; /* CTRAN_SUCCESS: removed */
    int   codes;       /* a class: how many other codes it has */
    char *text;        /* NULL: none */
};

struct ct_codes {
    pthread_mutex_t lock;
    int             last_used; /* the attribute CTRAN_LASTUSEDCODE, by address */
    struct ct_code *list;      /* number CTRAN_ERR_LASTCODE + 1 + i */
    int             n;
};

#define CT_CODES_INIT                                                                              \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER, .last_used = CTRAN_ERR_LASTCODE                         \
    }

/* A new class; a new code of a class, which may be one of ctran's own. Errors: CTRAN_ERR_NO_MEM,
 * CTRAN_ERR_ARG for what is no class. */
int ct_codes_add_class(struct ct_codes *codes, int *error_class);
int ct_codes_add(struct ct_codes *codes, int error_class, int *code);

/* Takes an added class, or an added code that is none, away again, with its text. CTRAN_ERR_ARG for
 * any other number; CTRAN_ERR_OTHER for a class that still has codes. */
int ct_codes_remove_class(struct ct_codes *codes, int error_class);
int ct_codes_remove(struct ct_codes *codes, int code);

/* Gives an added code its text, which is copied and cut to CTRAN_MAX_ERROR_STRING - 1 bytes; takes
 * it away. CTRAN_ERR_ARG for what is no added code, or has no text to take away. */
int ct_codes_set_text(struct ct_codes *codes, int code, const char *text);
int ct_codes_remove_text(struct ct_codes *codes, int code);

/* The class of any code; CTRAN_ERR_ARG for what is none. */
int ct_codes_class_of(struct ct_codes *codes, int code, int *error_class);
/* Writes the text of any code, with its name where it has one and `named`, into at least
 * CTRAN_MAX_ERROR_STRING bytes, and returns its length; -1 for what is no code. */
int ct_codes_describe(struct ct_codes *codes, int code, bool named, char *out);

#endif
