/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks print, on its way to ctranrun's own standard output and error, and ctranrun's
 * own messages between it.
 *
 * The daemons send whole lines, or long lines in pieces without others between. Here the last
 * rules are kept: a source that ends in the middle of a line gets a newline before the next
 * source goes on, and every line gets its tag. Where both streams lead to one file they are one
 * sink, so that their lines do not mix either. Bytes written are given back to the daemon as
 * credit; nothing else may be kept here, so a slow reader costs no memory.
 */
#ifndef CT_LAUNCHER_IO_OUTPUT_H
#define CT_LAUNCHER_IO_OUTPUT_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ct_output;

struct ct_output_ops {
    void (*written)(void *arg, uint32_t channel, size_t len_bytes); /* these may be sent anew */
    /* No more can be written; called once a channel. `err` is 0 where the reader has gone. */
    void (*broken)(void *arg, uint32_t channel, int err);
    void (*idle)(void *arg); /* all is written */
};

/* Tags have the rank, and before it the number of a job that was spawned, if that is not 0. */
struct ct_output *ct_output_create(struct event_base *base, bool tag, uint32_t job_number,
                                   const struct ct_output_ops *ops, void *arg);
void              ct_output_destroy(struct ct_output *o);

/* Whether standard output and error lead to the same file: all then goes to CT_CHAN_OUT. */
bool ct_output_is_one_sink(const struct ct_output *o);

/* Output of a rank, from a channel with credit; `source` is ct_source_of its rank. Returns false
 * for a channel that does not exist. */
bool ct_output_add(struct ct_output *o, uint32_t channel, uint32_t source, const uint8_t *data,
                   size_t len_bytes);

/* The same for lines of a job that was spawned, which have their tags and know no credit. */
void ct_output_pass(struct ct_output *o, uint32_t channel, uint32_t source, const uint8_t *data,
                    size_t len_bytes);

/* Lines of ctranrun's own, newline included, to standard error; to standard output. */
void ct_output_message(struct ct_output *o, const char *line);
void ct_output_print(struct ct_output *o, const char *lines);

/* Shows a line on the terminal that standard error is, in the place of the last such line; with ""
 * it is taken away, as it is before anything else is written there, and then never comes back. */
void ct_output_progress(struct ct_output *o, const char *line);

/* Somebody has typed a line on a terminal that shows it: where output goes to that terminal, the
 * next output begins a line. */
void ct_output_typed(struct ct_output *o);

bool ct_output_is_idle(const struct ct_output *o);

/* Drops what is not written, now and from now on. */
void ct_output_give_up(struct ct_output *o);

#endif
