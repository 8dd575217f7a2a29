/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctranrun's standard input on its way to the ranks. It is read only against credit, and never from
 * a terminal while this process is in the background there: the system would stop the process.
 */
#ifndef CT_LAUNCHER_IO_INPUT_H
#define CT_LAUNCHER_IO_INPUT_H

#include <event2/event.h>
#include <stddef.h>
#include <stdint.h>

struct ct_input;

/* Bytes were read. 0 bytes: the end of the input; no call follows. */
typedef void (*ct_input_fn)(void *arg, const uint8_t *data, size_t len_bytes);

/* The input cannot be read, for the reason that the errno value gives. No call follows. */
typedef void (*ct_input_broken_fn)(void *arg, int err);

struct ct_input *ct_input_create(struct event_base *base, ct_input_fn fn, ct_input_broken_fn broken,
                                 void *arg);
void             ct_input_destroy(struct ct_input *in);

/* Allows so many more bytes to be read. */
void ct_input_credit(struct ct_input *in, size_t len_bytes);

/* Stops reading: no rank wants more. */
void ct_input_stop(struct ct_input *in);

#endif
