/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctranrun's standard input, on its way to rank 0: read only against credit, and never from a
 * terminal in whose background we are, which would stop us.
 */
#ifndef CT_LAUNCHER_IO_INPUT_H
#define CT_LAUNCHER_IO_INPUT_H

#include <event2/event.h>
#include <stddef.h>
#include <stdint.h>

struct ct_input;

/* `len` bytes were read; 0 is the end of the input, and nothing follows. */
typedef void (*ct_input_fn)(void *arg, const uint8_t *data, size_t len_bytes);

/* The input cannot be read, for the reason that the errno gives. Nothing follows. */
typedef void (*ct_input_broken_fn)(void *arg, int err);

struct ct_input *ct_input_create(struct event_base *base, ct_input_fn fn, ct_input_broken_fn broken,
                                 void *arg);
void             ct_input_destroy(struct ct_input *in);

/* So many more bytes may be read. */
void ct_input_credit(struct ct_input *in, size_t len_bytes);

/* Nobody wants more. */
void ct_input_stop(struct ct_input *in);

#endif
