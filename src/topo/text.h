/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Texts that users write: maps in variables or files, descriptions of machines. A text is a row of
 * entries, separated by newlines or semicolons; # begins a comment. Errors have the name of the
 * text, line and column, as those of compilers: "FILE:3:7: there is no GPU 9".
 */
#ifndef CT_TOPO_TEXT_H
#define CT_TOPO_TEXT_H

#include "base/base.h"

enum { CT_TEXT_MAX = 256 << 10 }; /* longer files are refused */

struct ct_text {
    const char *name;  /* of the variable or file; borrowed */
    const char *begin; /* ends with 0 */
    const char *at;    /* what comes next */
    char       *owned; /* NULL, or the content of a file */
    char       *why;   /* where errors go */
    size_t      cap;
};

/* A part of the text. */
struct ct_word {
    const char *at;
    size_t      len;
};

/* The value of a variable, or, if it begins with @, the file that it names; either must outlive
 * the text. CTRAN_ERR_ARG: the file cannot be read, is too long or is no text. */
int  ct_text_open(struct ct_text *t, const char *name, const char *value, char *why, size_t cap);
int  ct_text_open_file(struct ct_text *t, const char *path, char *why, size_t cap);
void ct_text_close(struct ct_text *t);

/* The next entry that is not empty, without blanks around it. False: there is none. */
bool ct_text_entry(struct ct_text *t, struct ct_word *entry);

/* Takes the part before `mark` off *rest, blanks around it not included; without a mark all of it.
 * False: *rest is at its end (an empty part before a mark is a part). */
bool ct_word_split(struct ct_word *rest, char mark, struct ct_word *part);
/* Takes the next word off *rest: up to a blank outside double quotes. */
bool ct_word_next(struct ct_word *rest, struct ct_word *word);
bool ct_word_is(struct ct_word w, const char *text);
/* A decimal number of at most `max`; nothing else in the word. */
bool ct_word_number(struct ct_word w, uint64_t max, uint64_t *number);
/* Copies it as a string. False: it does not fit. */
bool ct_word_copy(struct ct_word w, char *out, size_t cap);

/* For "%.*s"; long words are cut. */
#define CT_WORD_ARG(w) (int)((w).len < 64 ? (w).len : 64), (w).at

/* Writes "NAME:LINE:COLUMN: ..." to `why`; `at` is the place in the text. Returns CTRAN_ERR_ARG. */
int ct_text_fail(const struct ct_text *t, const char *at, const char *fmt, ...) CT_PRINTF(3, 4);

#endif
