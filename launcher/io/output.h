/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks print, on its way to ctranrun's standard output and error, with ctranrun's own
 * messages between it.
 *
 * The daemons send whole lines, or long lines in parts without other lines between. This file keeps
 * the last rules: a source that stops in the middle of a line gets a newline before the next source
 * goes on, and every line gets its tag. If both streams lead to one file, the two are one sink, so
 * that their lines do not mix either. Written bytes are returned to the daemon as credit. Nothing
 * else is kept here, so a slow reader costs no memory.
 */
#ifndef CT_LAUNCHER_IO_OUTPUT_H
#define CT_LAUNCHER_IO_OUTPUT_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ct_output;

struct ct_output_ops {
    void (*written)(void *arg, uint32_t channel,
                    size_t len_bytes); /* so many more bytes of the channel may be sent */
    /* The channel can be written no more; called once a channel. `err` is 0 if the reader has
     * gone. */
    void (*broken)(void *arg, uint32_t channel, int err);
    void (*idle)(void *arg); /* all is written */
};

/* A tag has the rank, and before the rank the number of a spawned job, if `job_number` is not 0.
 * Returns NULL when out of memory. */
struct ct_output *ct_output_create(struct event_base *base, bool tag, uint32_t job_number,
                                   const struct ct_output_ops *ops, void *arg);
void              ct_output_destroy(struct ct_output *o);

/* Whether standard output and error lead to one file: then all output goes to CT_CHAN_OUT. */
bool ct_output_is_one_sink(const struct ct_output *o);

/* Writes output of a rank, which came against credit. `source` is the rank's ct_source_of. Returns
 * false for a channel that does not exist. */
bool ct_output_add(struct ct_output *o, uint32_t channel, uint32_t source, const uint8_t *data,
                   size_t len_bytes);

/* Writes lines of a spawned job, which have their tags, and came without credit. */
void ct_output_pass(struct ct_output *o, uint32_t channel, uint32_t source, const uint8_t *data,
                    size_t len_bytes);

/* Writes a line of ctranrun's own, with its newline, to standard error; lines to standard
 * output. */
void ct_output_message(struct ct_output *o, const char *line);
void ct_output_print(struct ct_output *o, const char *lines);

/* Shows a line on the terminal that standard error is, in place of the last such line. "" removes
 * the line, and no such line is shown again. Any other output to the terminal removes it as
 * well. */
void ct_output_progress(struct ct_output *o, const char *line);

/* The user has typed a line on a terminal that echoes it. If output goes to that terminal, the next
 * output begins a new line. */
void ct_output_typed(struct ct_output *o);

bool ct_output_is_idle(const struct ct_output *o);

/* Drops what is not written, now and from now on. */
void ct_output_give_up(struct ct_output *o);

#endif
