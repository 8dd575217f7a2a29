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

/* A whole message has arrived. The callee sets in->bad if the payload makes no sense; then the
 * connection ends. The payload is gone after the return. The callee must not destroy the
 * connection. */
typedef void (*ct_conn_msg_fn)(void *arg, enum ct_msg_type type, struct ct_unpack *in);
/* The stream has ended or is broken; `why` is one line. Called once; no other call follows. */
typedef void (*ct_conn_gone_fn)(void *arg, const char *why);

/* Takes over the descriptors to read from and to write to, which may be one descriptor. Returns
 * NULL when out of memory; the descriptors are still the caller's then. */
struct ct_conn *ct_conn_create(struct event_base *base, int in_fd, int out_fd,
                               ct_conn_msg_fn on_msg, ct_conn_gone_fn on_gone, void *arg);
void            ct_conn_destroy(struct ct_conn *c);

/* Whether the stream ended as a stream may end, and was not broken. */
bool ct_conn_has_ended(const struct ct_conn *c);

/* Whether this side gave the connection up: what arrived made no sense, or could not be handled. */
bool ct_conn_was_senseless(const struct ct_conn *c);

/* Sends a message and empties `payload` (may be NULL). Never blocks: bytes that cannot be written
 * yet are kept. Does nothing on a connection that is gone. */
void ct_conn_send(struct ct_conn *c, enum ct_msg_type type, struct evbuffer *payload);

/* Sends a message whose payload lies in memory. */
void ct_conn_send_bytes(struct ct_conn *c, enum ct_msg_type type, const void *data,
                        size_t len_bytes);

/* Send messages that consist of a number and a text, of one number, of a channel and a number. */
void ct_conn_send_text(struct ct_conn *c, enum ct_msg_type type, uint32_t v, const char *text);
void ct_conn_send_u32(struct ct_conn *c, enum ct_msg_type type, uint32_t v);
void ct_conn_send_credit(struct ct_conn *c, uint32_t channel, uint32_t len_bytes);

/* Sends the first message of a process to its parent. */
void ct_conn_send_hello(struct ct_conn *c);

/* Bytes that were sent and that the system has not taken yet. */
size_t ct_conn_pending(const struct ct_conn *c);

/* Bytes that the system has taken in all. The number grows as long as the stream moves. */
uint64_t ct_conn_written(const struct ct_conn *c);

/* Calls on_sent once, when all bytes sent so far are written out; at once if they are. Does not
 * call it when the connection is gone. */
void ct_conn_when_sent(struct ct_conn *c, void (*on_sent)(void *arg));

/* Writes out what is pending, and waits at most timeout_ms for the peer. For the moment before the
 * event loop stops. */
void ct_conn_flush(struct ct_conn *c, int timeout_ms);

#endif
