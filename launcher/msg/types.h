/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The types of the messages between the processes of the launcher, and the payload of each.
 * Messages go up the tree, towards the head, or down. A message about one node or one rank names
 * the node or the rank, so that a process which passes the message on need not know what it means.
 */
#ifndef CT_LAUNCHER_MSG_TYPES_H
#define CT_LAUNCHER_MSG_TYPES_H

#include <stdbool.h>
#include <stdint.h>

/* The first word of each message, and the version of the header and of all payloads. */
enum { CT_PROTO_MAGIC = 0x52544331 /* "1CTR" */, CT_PROTO_VERSION = 11 };

enum ct_msg_type {
    /* Messages that go up. */
    CT_MSG_HELLO = 1, /* text build, u32 pid, text host: the first message, to the parent */
    CT_MSG_JOINED,    /* u32 node: the process above the node has got its HELLO */
    CT_MSG_READY,    /* u32 node, u32 pid, text host, text address of the node's server of the store
                     (""): the daemon can start its ranks */
    CT_MSG_LOST,     /* u32 node, text: the node cannot be reached any more, or never could */
    CT_MSG_STARTED,  /* u32 rank, u32 pid (0: with --dry-run), text: the place of the rank */
    CT_MSG_PROGRESS, /* u32 node, u32 ranks started, u32 ranks connected to the PMIx server */
    CT_MSG_RUNNING,  /* u32 node, u64 us for the PMIx server, u64 us for the ranks: all are
                       started */
    CT_MSG_REFUSED, /* u32 node, u32 exit status, text: the node cannot start its part of the job */
    CT_MSG_OUT,     /* u32 channel, u32 source, u32 1: the line goes on, bytes */
    CT_MSG_EXIT,    /* u32 rank, u32 pid, u32 wait status, u32 enum ct_rank_phase */
    CT_MSG_ABORT,   /* u32 rank, u32 pid, u32 status, text: the rank called PMIx_Abort */
    CT_MSG_STDIN_CLOSED, /* no rank reads the standard input any more */
    CT_MSG_WARNING,      /* u32 node, text: the job goes on, perhaps not well */
    CT_MSG_NOT_KEPT,     /* u32 node, text: the output of a rank cannot be written to its file */
    CT_MSG_LEAVE,        /* u32 rank: the rank wants to leave a job that outlives deaths */
    CT_MSG_FENCE,    /* u32 number of ranks that take part (0: all), the ranks, u32 status, bytes */
    CT_MSG_SPAWN,    /* a rank wants to start a job; family/spawned.h */
    CT_MSG_DATA_ASK, /* a rank publishes, looks up or unpublishes; family/published.h */
    CT_MSG_DATA_TAKEN,     /* u32 rank, u32 bytes of answers that the rank has got */
    CT_MSG_FAMILY_MEET,    /* ranks of several jobs meet; family/messages.h, as for all FAMILY_* */
    CT_MSG_FAMILY_GIVE_UP, /* ranks wait for the others no longer */
    CT_MSG_FAMILY_GET,     /* a rank asks for data of a rank of another job */
    CT_MSG_FAMILY_FOUND,   /* the answer to FAMILY_FETCH */
    CT_MSG_FAMILY_KNOWN,   /* u32 node, text name: the node knows the job of a FAMILY_JOB */
    CT_MSG_FAMILY_STARTED, /* between heads: a rank has spawned a job */
    CT_MSG_FAMILY_ENDED,   /* u32 rank of the sending job, which has ended */
    CT_MSG_DONE,           /* no process of the job is left there, and all output is sent */

    /* Messages that go down. */
    CT_MSG_JOB,        /* u32 node of the receiver, u32 nodes from there on that are its own;
                   job/jobdesc.h */
    CT_MSG_START,      /* text address of the store's first server (""): all nodes are ready */
    CT_MSG_FENCE_DONE, /* as FENCE, with the bytes of all ranks */
    CT_MSG_JOB_EVENT, /* u32 enum ct_job_event, u32 rank: for ranks of a job that outlives deaths */
    CT_MSG_FAMILY_JOB, /* another job of the family */
    CT_MSG_STDIN,      /* bytes; no bytes: end of file */
    CT_MSG_SIGNAL,     /* u32 number: a signal for the process groups of the ranks */
    CT_MSG_SIZE,       /* u32 rows, u32 columns of the terminal */
    CT_MSG_END,        /* u32 grace in ms (0: SIGKILL at once): the job ends */
    CT_MSG_OUT_CLOSE,  /* u32 channel: the reader has gone; the pipes are closed */

    /* Messages between ctranrun --status and a daemon. The daemon's answer ends with DONE. */
    CT_MSG_STATUS_ASK,  /* u32 1: with the ranks of the job */
    CT_MSG_STATUS_JOB,  /* text job, text host, u32 hosts, u32 pid of ctranrun (0: ctranrun is on
                          another host), u64 ms since the start, u32 ranks, u32 running, text
                          program */
    CT_MSG_STATUS_RANK, /* u32 rank, u32 pid (0: not started), u32 letter of its state (0: ended),
                           u32 wait status, u32 enum ct_rank_phase, u64 ms of CPU, u64 bytes
                           resident, text host, text program */
    CT_MSG_STATUS_MISSING, /* text host that does not answer */

    /* Messages between ctranrun --analyze and a daemon. The answer is that to STATUS_ASK 1, then
     * the traces, then DONE. */
    CT_MSG_ANALYZE_ASK, /* u32 0 */
    CT_MSG_TRACE,       /* u32 rank, bytes: a dump (src/trace/format.h) */

    /* Messages between ctranrun --store-dump and a daemon. The answer ends with DONE. */
    CT_MSG_STORE_ASK,   /* u32 0 */
    CT_MSG_STORE_WHERE, /* text key of the job, text address of the first server (""), u32 hosts (0:
                           one host), each: text */

    /* Messages from node to node, which the processes between them pass on. */
    CT_MSG_MODEX_ASK,   /* u32 to node, u32 from node, u32 request, u32 rank whose data is asked
                         for */
    CT_MSG_MODEX_DATA,  /* u32 to node, u32 request, u32 status, bytes */
    CT_MSG_DATA_ANSWER, /* from the head: u32 to node, u32 request, u32 enum ct_data_status, u32
                           values, each: text key, text name of the publishing job ("": the asking
                           job), u32 rank, u32 length, bytes */

    CT_MSG_STORES, /* from the head: u32 to node, u32 servers of the store, each: text address; the
                      first server is that node's and gets this before START */
    CT_MSG_SPAWN_ANSWER, /* from the head: u32 to node, u32 request, u32 enum ct_spawn_status, text
                            name for PMIx */
    CT_MSG_EVENT_PASSED, /* from the head: u32 to node, u32 number of the EVENT that was passed
                            on */
    CT_MSG_FAMILY_MET,   /* from the head, as the next two */
    CT_MSG_FAMILY_FETCH, /* from the head */
    CT_MSG_FAMILY_DATA,  /* from the head */
    CT_MSG_RANKS_ASK,    /* by way of the head to all nodes: u32 from node, u32 request: what do the
                         ranks do? */
    CT_MSG_RANKS, /* u32 to node, u32 request, u32 from node, its ranks; status/ranktable.h */

    CT_MSG_TRACES_ASK, /* by way of the head to all nodes: u32 from node, u32 request: the traces of
                          the ranks */
    CT_MSG_TRACES, /* u32 to node, u32 request, u32 from node, u32 rank (UINT32_MAX: there are no
                      more), bytes: a dump */

    /* Messages that go both ways. */
    CT_MSG_FAMILY,      /* between the heads of jobs of a family */
    CT_MSG_FAMILY_GONE, /* text name of a job that is over */
    CT_MSG_CREDIT,      /* u32 channel (CT_CHAN_STDIN goes up), u32 bytes that may be sent */
    CT_MSG_EVENT,       /* a rank tells the other ranks an event; pmix/event.h */

    /* Messages that go up, from router processes. */
    CT_MSG_EVENT_TAKEN, /* u32 EVENTs that the children have taken since the last EVENT_TAKEN;
                           tree/router_events.c */
    CT_MSG_TYPES
};

/* Output channels. If standard output and error lead to one file, both travel in CT_CHAN_OUT. */
enum { CT_CHAN_OUT, CT_CHAN_ERR, CT_CHAN_STDIN };

/* Returns the source of output: 2 * rank, plus 1 for standard error. */
static inline uint32_t ct_source_of(uint32_t rank, bool is_stderr)
{
    return 2 * rank + is_stderr;
}

/* How far a rank has come with PMIx. An exit while CONNECTED is a failure. */
enum ct_rank_phase { CT_PHASE_PLAIN, CT_PHASE_CONNECTED, CT_PHASE_FINALIZED };

/* What ranks are told when their job outlives deaths; job/recovery.h. */
enum ct_job_event {
    CT_JOB_EVENT_ENDED,
    CT_JOB_EVENT_NO_START,
    CT_JOB_EVENT_MAY_LEAVE,
    CT_JOB_EVENT_KINDS
};

#endif
