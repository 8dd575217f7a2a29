/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection that carries messages. A message on the stream is a header {magic, version, type,
 * length of the payload}, all little-endian, then the payload, then a newline: some launch agents
 * (srun) pass on whole lines only. A length is checked against the limit of its type before the
 * payload is read. Bytes that do not decode end the connection.
 */
#ifndef CT_LAUNCHER_MSG_CONN_H
#define CT_LAUNCHER_MSG_CONN_H

#include <event2/buffer.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/msg/pack.h"
#include "launcher/msg/types.h"

struct ct_conn;

/* A whole message arrived. Sets in->bad to have the connection ended for a payload that makes no
 * sense. The payload is gone after the return. Must not destroy the connection. */
typedef void (*ct_conn_msg_fn)(void *arg, enum ct_msg_type type, struct ct_unpack *in);
/* The stream ended or was broken; `why` is one line. Called once, nothing follows. */
typedef void (*ct_conn_gone_fn)(void *arg, const char *why);

/* Takes over the descriptors to read from and to write to, which may be one. NULL when out of
 * memory. */
struct ct_conn *ct_conn_create(struct event_base *base, int in_fd, int out_fd,
                               ct_conn_msg_fn on_msg, ct_conn_gone_fn on_gone, void *arg);
void            ct_conn_destroy(struct ct_conn *c);

/* Whether the stream has ended, as it may, and was not broken. */
bool ct_conn_has_ended(const struct ct_conn *c);

/* Whether it was given up since what came made no sense, or could not be worked with. */
bool ct_conn_was_senseless(const struct ct_conn *c);

/* Sends a message; `payload` (may be NULL) is emptied. Never blocks; what cannot be written yet is
 * kept. On a connection that is gone it does nothing. */
void ct_conn_send(struct ct_conn *c, enum ct_msg_type type, struct evbuffer *payload);

/* The same with a payload that lies in memory. */
void ct_conn_send_bytes(struct ct_conn *c, enum ct_msg_type type, const void *data,
                        size_t len_bytes);

/* Messages made of one or two numbers, of a number and a text. */
void ct_conn_send_text(struct ct_conn *c, enum ct_msg_type type, uint32_t v, const char *text);
void ct_conn_send_u32(struct ct_conn *c, enum ct_msg_type type, uint32_t v);
void ct_conn_send_credit(struct ct_conn *c, uint32_t channel, uint32_t len_bytes);

/* A daemon's first message to its parent. */
void ct_conn_send_hello(struct ct_conn *c);

/* Bytes that were sent and that the system has not taken yet. */
size_t ct_conn_pending(const struct ct_conn *c);

/* Bytes that the system has taken in all: whether the stream moves. */
uint64_t ct_conn_written(const struct ct_conn *c);

/* Has on_sent called, once, when all that was sent so far is written out; at once if it is. Not
 * called when the connection is gone. */
void ct_conn_when_sent(struct ct_conn *c, void (*on_sent)(void *arg));

/* Writes out what is pending, waiting for the peer at most timeout_ms. For the moments when the
 * loop is about to stop. */
void ct_conn_flush(struct ct_conn *c, int timeout_ms);

#endif
