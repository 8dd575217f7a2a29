/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines of the examples: a table says which options a program has, and where they go. */
#ifndef EXAMPLES_ARGS_H
#define EXAMPLES_ARGS_H

#include <stdbool.h>
#include <stdio.h>

enum arg_kind {
    ARG_LONG, /* a whole number from least to most, to a long */
    ARG_REAL, /* a number above least and below most, to a double */
    ARG_TEXT, /* to a const char * */
    ARG_FLAG  /* takes no value; sets a bool */
};

struct arg {
    const char   *name; /* without --; NULL ends the table */
    enum arg_kind kind;
    void         *to;    /* holds the default before */
    const char   *value; /* what the usage calls its value; NULL: it takes none */
    const char   *help;  /* further lines begin behind a newline */
    double        least, most;
};

enum { ARGS_MOST = 16 /* options that a program may have */ };

struct args {
    const char       *program, *purpose; /* the purpose: whole lines */
    const struct arg *table;
};

/* Takes the options. Returns -1 to go on, otherwise the exit status: 0 after --help, 2 after a
 * message about an error. All ranks have the same command line, so only the one with `speak`
 * writes. */
int args_parse(const struct args *args, int argc, char **argv, bool speak);

/* How to call the program. */
void args_usage(const struct args *args, FILE *to);

#endif
