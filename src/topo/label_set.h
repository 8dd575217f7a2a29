/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of labels share: the set that their parsers fill. */
#ifndef CT_TOPO_LABEL_SET_H
#define CT_TOPO_LABEL_SET_H

#include "topo/labels.h"

/* The lines of a text, one after the other, without comments and blanks at their ends. */
struct ct_label_lines {
    const char *at;
    unsigned    number; /* of the line that was given last */
    char       *line;   /* it; owned */
    size_t      room;
    bool        no_memory;
};

/* The next line that is not empty; NULL: there is none, or no memory. */
char *ct_label_lines_next(struct ct_label_lines *lines);

/* The next word of a line: ends it with a 0 and moves on. NULL at the end. */
char *ct_label_word(char **at);

/* Adds what is known of HOSTS (names, ranges, patterns) to the set. CTRAN_ERR_ARG with the reason,
 * without file and line. */
int ct_labels_add(struct ct_labels **labels, const char *hosts, const struct ct_label *label,
                  char *why, size_t cap);

/* The value of "key=value", where the word has this key, in any case; else NULL. */
const char *ct_label_value(const char *word, const char *key);

/* Whether a first line is one of Slurm's, and the parser of those. CTRAN_ERR_ARG: lines->number is
 * the line, `why` the reason. */
bool ct_label_slurm_is(const char *line);
int  ct_label_slurm_parse(struct ct_labels **labels, struct ct_label_lines *lines, char *first,
                          char *why, size_t cap);

/* Whether a pattern of * and ? matches the whole text. Linear in both lengths except for the number
 * of *. */
bool ct_label_match(const char *pattern, const char *text);

#endif
