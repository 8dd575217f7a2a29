/* SPDX-License-Identifier: BSD-3-Clause */
/* Files and words of labels; see labels.h. Those of Slurm are label_slurm.c's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "topo/label_set.h"

/* ---- lines ----------------------------------------------------------------------------------- */

static bool label_file_make_room(struct ct_label_lines *l, size_t bytes)
{
    if (bytes > l->room) {
        char *more = realloc(l->line, 2 * bytes);
        l->no_memory = more == NULL;
        l->line = more != NULL ? more : l->line;
        l->room = more != NULL ? 2 * bytes : l->room;
    }
    return !l->no_memory;
}

/* Copies up to the end of the line or a comment; a backslash at the end takes the next line in. */
static size_t label_file_take_line(struct ct_label_lines *l)
{
    size_t n = 0;
    bool   more = true;
    while (more && *l->at != '\0') {
        size_t len = strcspn(l->at, "\n"), text = strcspn(l->at, "#\n");
        more = text == len && len > 0 && l->at[len - 1] == '\\' && l->at[len] == '\n';
        text -= more;
        if (!label_file_make_room(l, n + text + 1)) {
            break;
        }
        memcpy(l->line + n, l->at, text);
        n += text;
        l->at += len + (l->at[len] == '\n');
        l->number++;
    }
    return n;
}

char *ct_label_lines_next(struct ct_label_lines *l)
{
    static const char blanks[] = " \t\r\f\v";
    while (!l->no_memory && *l->at != '\0') {
        size_t n = label_file_take_line(l);
        if (l->no_memory) {
            return NULL;
        }
        while (n > 0 && strchr(blanks, l->line[n - 1]) != NULL) {
            n--;
        }
        l->line[n] = '\0';
        char *start = l->line + strspn(l->line, blanks);
        if (*start != '\0') {
            return start;
        }
    }
    return NULL;
}

char *ct_label_word(char **at)
{
    char *word = *at + strspn(*at, " \t\r\f\v");
    if (*word == '\0') {
        return NULL;
    }
    char *end = word + strcspn(word, " \t\r\f\v");
    *at = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return word;
}

const char *ct_label_value(const char *word, const char *key)
{
    size_t len = strlen(key);
    return strncasecmp(word, key, len) == 0 && word[len] == '=' ? word + len + 1 : NULL;
}

/* ---- our own --------------------------------------------------------------------------------- */

/* "rack=r1" into its place. */
static int label_file_take_setting(struct ct_label *label, const char *word, char *why, size_t cap)
{
    const struct {
        const char  *key;
        const char **to;
    } keys[CT_LABELS_LEVELS] = {{"nvlink", &label->nvlink},
                                {"rack", &label->rack},
                                {"zone", &label->zone},
                                {"dc", &label->dc}};
    for (size_t i = 0; i < CT_ARRAY_LEN(keys); i++) {
        const char *value = ct_label_value(word, keys[i].key);
        if (value == NULL) {
            continue;
        }
        if (value[0] == '\0' || strlen(value) >= CT_LABEL_LEN) {
            snprintf(why, cap, "\"%.80s\": a name has 1 to %d characters", word, CT_LABEL_LEN - 1);
            return CTRAN_ERR_ARG;
        }
        if (**keys[i].to != '\0') {
            snprintf(why, cap, "%s= stands there twice", keys[i].key);
            return CTRAN_ERR_ARG;
        }
        *keys[i].to = value;
        return CTRAN_SUCCESS;
    }
    snprintf(why, cap, "\"%.80s\" is none of nvlink=NAME, rack=NAME, zone=NAME and dc=NAME", word);
    return CTRAN_ERR_ARG;
}

/* What is left of a line, after the hosts. */
static int take_settings(struct ct_labels **labels, const char *hosts, char *at, char *why,
                         size_t cap)
{
    struct ct_label label = {"", "", "", ""};
    int             rc = CTRAN_SUCCESS, n = 0;
    for (char *word; rc == CTRAN_SUCCESS && (word = ct_label_word(&at)) != NULL; n++) {
        rc = label_file_take_setting(&label, word, why, cap);
    }
    if (rc == CTRAN_SUCCESS && n == 0) {
        snprintf(why, cap, "\"%.80s\" has no nvlink=, rack=, zone= or dc=", hosts);
        rc = CTRAN_ERR_ARG;
    }
    return rc == CTRAN_SUCCESS ? ct_labels_add(labels, hosts, &label, why, cap) : rc;
}

static int parse_own(struct ct_labels **labels, struct ct_label_lines *lines, char *line, char *why,
                     size_t cap)
{
    int rc = CTRAN_SUCCESS;
    for (; line != NULL && rc == CTRAN_SUCCESS; line = ct_label_lines_next(lines)) {
        char *hosts = ct_label_word(&line);
        rc = take_settings(labels, hosts, line, why, cap);
        if (rc != CTRAN_SUCCESS) {
            break;
        }
    }
    return rc;
}

int ct_labels_parse(struct ct_labels **labels, const char *text, const char *name, char *why,
                    size_t cap)
{
    struct ct_label_lines lines = {.at = text};
    char                  reason[256] = "out of memory", *line = ct_label_lines_next(&lines);
    int                   rc = CTRAN_SUCCESS;
    if (line != NULL) {
        rc = ct_label_slurm_is(line)
                 ? ct_label_slurm_parse(labels, &lines, line, reason, sizeof reason)
                 : parse_own(labels, &lines, line, reason, sizeof reason);
    }
    rc = lines.no_memory ? CTRAN_ERR_NO_MEM : rc;
    if (rc != CTRAN_SUCCESS) {
        snprintf(why, cap, "%s:%u: %s", name, lines.number, reason);
    }
    free(lines.line);
    return rc;
}

int ct_labels_parse_words(struct ct_labels **labels, const char *host, const char *words,
                          const char *name, char *why, size_t cap)
{
    char  reason[256] = "out of memory";
    char *copy = strdup(words);
    int   rc =
        copy != NULL ? take_settings(labels, host, copy, reason, sizeof reason) : CTRAN_ERR_NO_MEM;
    if (rc != CTRAN_SUCCESS) {
        snprintf(why, cap, "%s=\"%.80s\": %s", name, words, reason);
    }
    free(copy);
    return rc;
}

/* ---- files ----------------------------------------------------------------------------------- */

int ct_labels_read(struct ct_labels **labels, const char *path, char *why, size_t cap)
{
    char *text = ct_textfile_read(path, CT_LABELS_BYTES);
    int   rc = CTRAN_ERR_ARG;
    if (text != NULL) {
        rc = ct_labels_parse(labels, text, path, why, cap);
    } else {
        rc = errno == ENOMEM ? CTRAN_ERR_NO_MEM : rc;
        snprintf(why, cap, "\"%s\" cannot be read: %s", path, ct_textfile_why(errno));
    }
    free(text);
    return rc;
}
