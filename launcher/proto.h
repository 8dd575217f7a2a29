/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages between head and node daemon, and the connection that carries them.
 *
 * A message is a header {magic, version, type, length of the payload}, all little-endian, and the
 * payload: 32-bit and 64-bit numbers, little-endian, and texts as {length, bytes, NUL}. A length
 * is checked against the limit of its type before anything is done with it; whatever does not
 * decode ends the connection. The stream is all the two share, so the same messages can run over
 * a network.
 */
#ifndef CT_LAUNCHER_PROTO_H
#define CT_LAUNCHER_PROTO_H

#include <event2/buffer.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ct_msg_type {
    /* daemon to head */
    CT_MSG_HELLO = 1,    /* text build, u32 pid, text host: the first message */
    CT_MSG_STARTED,      /* u32 rank, u32 pid (0: it would be started), text: its place */
    CT_MSG_PROGRESS,     /* u32 ranks started, u32 ranks that have found the PMIx server */
    CT_MSG_RUNNING,      /* u64 us for the PMIx server, u64 us for the ranks: all are started */
    CT_MSG_REFUSED,      /* u32 exit status, text: the job cannot be started here */
    CT_MSG_OUT,          /* u32 channel, u32 source, bytes */
    CT_MSG_EXIT,         /* u32 rank, u32 pid, u32 wait status, u32 enum ct_rank_phase */
    CT_MSG_ABORT,        /* u32 rank, u32 pid, u32 status, text: a rank called PMIx_Abort */
    CT_MSG_STDIN_CLOSED, /* nobody reads it any more */
    CT_MSG_WARNING,      /* text: the job goes on, perhaps not well */
    CT_MSG_NOT_KEPT,     /* text: output cannot be written to its file */
    CT_MSG_DONE,         /* no process of the job is left on the node; all output is sent */

    /* head to daemon */
    CT_MSG_JOB,       /* jobdesc.h */
    CT_MSG_STDIN,     /* bytes; none: end of file */
    CT_MSG_SIGNAL,    /* u32 number: for the ranks' process groups */
    CT_MSG_SIZE,      /* u32 rows, u32 columns: of the terminal */
    CT_MSG_END,       /* u32 grace in ms, 0: SIGKILL at once */
    CT_MSG_OUT_CLOSE, /* u32 channel: nobody reads it any more, close the ranks' pipes */

    /* between ctranrun --status and a daemon, which answers and ends with DONE */
    CT_MSG_STATUS_ASK,  /* u32: with its ranks */
    CT_MSG_STATUS_JOB,  /* text job, text host, u32 pid of ctranrun, u64 ms since the start,
                           u32 ranks, u32 running, text program */
    CT_MSG_STATUS_RANK, /* u32 rank, u32 pid, u32 letter of its state (0: ended), u32 wait status,
                           u32 enum ct_rank_phase, u64 ms of CPU, u64 bytes resident,
                           text program */

    /* both ways */
    CT_MSG_CREDIT, /* u32 channel (CT_CHAN_STDIN to the head), u32 bytes */
    CT_MSG_TYPES
};

/* Output channels; with standard output and error in one file both travel in CT_CHAN_OUT. */
enum { CT_CHAN_OUT, CT_CHAN_ERR, CT_CHAN_STDIN };

/* The source of output: 2 * rank + 1 for standard error. */
static inline uint32_t ct_source_of(uint32_t rank, bool is_stderr)
{
    return 2 * rank + is_stderr;
}

/* How far a rank has come with PMIx; an exit between the two calls is abnormal. */
enum ct_rank_phase { CT_PHASE_PLAIN, CT_PHASE_CONNECTED, CT_PHASE_FINALIZED };

/* ---- payloads -------------------------------------------------------------------------------- */

/* Writers append to a payload. */
void ct_pack_u32(struct evbuffer *out, uint32_t v);
void ct_pack_u64(struct evbuffer *out, uint64_t v);
void ct_pack_text(struct evbuffer *out, const char *s);

/* A reader takes values in order. After one that is not there, `bad` is set and every further
 * value is 0 or "". Texts point into the payload. */
struct ct_unpack {
    const uint8_t *at;
    size_t         left;
    bool           bad;
};
uint32_t    ct_unpack_u32(struct ct_unpack *in);
uint64_t    ct_unpack_u64(struct ct_unpack *in);
const char *ct_unpack_text(struct ct_unpack *in);

/* ---- connections ----------------------------------------------------------------------------- */

struct ct_conn;

/* A whole message arrived. Sets in->bad to have the connection ended for a payload that makes no
 * sense. The payload is gone after the return. Must not destroy the connection. */
typedef void (*ct_conn_msg_fn)(void *arg, enum ct_msg_type type, struct ct_unpack *in);
/* The stream ended or was broken; `why` is one line. Called once, nothing follows. */
typedef void (*ct_conn_gone_fn)(void *arg, const char *why);

/* Takes over fd. NULL when out of memory. */
struct ct_conn *ct_conn_create(struct event_base *base, int fd, ct_conn_msg_fn on_msg,
                               ct_conn_gone_fn on_gone, void *arg);
void            ct_conn_destroy(struct ct_conn *c);

/* Sends a message; `payload` (may be NULL) is emptied. Never blocks; what cannot be written yet is
 * kept. On a connection that is gone it does nothing. */
void ct_conn_send(struct ct_conn *c, enum ct_msg_type type, struct evbuffer *payload);

/* Messages made of one or two numbers. */
void ct_conn_send_u32(struct ct_conn *c, enum ct_msg_type type, uint32_t v);
void ct_conn_send_credit(struct ct_conn *c, uint32_t channel, uint32_t len_bytes);

/* Has on_sent called, once, when all that was sent so far is written out; at once if it is. Not
 * called when the connection is gone. */
void ct_conn_when_sent(struct ct_conn *c, void (*on_sent)(void *arg));

/* Writes out what is pending, waiting for the peer at most timeout_ms. For the moments when the
 * loop is about to stop. */
void ct_conn_flush(struct ct_conn *c, int timeout_ms);

#endif
