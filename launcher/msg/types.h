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

/* How each message begins, and the version of what follows. */
enum { CT_PROTO_MAGIC = 0x52544331 /* "1CTR" */, CT_PROTO_VERSION = 10 };

enum ct_msg_type {
    /* up */
    CT_MSG_HELLO = 1, /* text build, u32 pid, text host: the first message, to the parent */
    CT_MSG_JOINED,    /* u32 node: its parent has heard of it */
    CT_MSG_READY,     /* u32 node, u32 pid, text host, text where its server of the store is (""):
                         its daemon has all that it needs */
    CT_MSG_LOST,      /* u32 node, text: it cannot be reached any more, or never could */
    CT_MSG_STARTED,   /* u32 rank, u32 pid (0: it would be started), text: its place */
    CT_MSG_PROGRESS,  /* u32 node, u32 ranks started, u32 ranks that have found the PMIx server */
    CT_MSG_RUNNING,   /* u32 node, u64 us for the PMIx server, u64 us for the ranks: all started */
    CT_MSG_REFUSED,   /* u32 node, u32 exit status, text: the job cannot be started there */
    CT_MSG_OUT,       /* u32 channel, u32 source, u32: the line goes on, bytes */
    CT_MSG_EXIT,      /* u32 rank, u32 pid, u32 wait status, u32 enum ct_rank_phase */
    CT_MSG_ABORT,     /* u32 rank, u32 pid, u32 status, text: a rank called PMIx_Abort */
    CT_MSG_STDIN_CLOSED, /* nobody reads it any more */
    CT_MSG_WARNING,      /* u32 node, text: the job goes on, perhaps not well */
    CT_MSG_NOT_KEPT,     /* u32 node, text: output cannot be written to its file */
    CT_MSG_LEAVE,        /* u32 rank: it wants to leave a job that outlives deaths */
    CT_MSG_FENCE,        /* u32 ranks that take part (0: all), their numbers, u32 status, bytes */
    CT_MSG_SPAWN,        /* a rank wants to start another job; family/spawned.h */
    CT_MSG_DATA_ASK,     /* what a rank publishes, looks up or unpublishes; family/published.h */
    CT_MSG_DATA_TAKEN,   /* u32 rank, u32 bytes of answers to its lookups that it has been given */
    CT_MSG_FAMILY_MEET,  /* ranks of several jobs meet; family/root.h, as the next four */
    CT_MSG_FAMILY_GIVE_UP, /* they wait for the others no longer */
    CT_MSG_FAMILY_GET,     /* a rank asks about one of another job */
    CT_MSG_FAMILY_FOUND,   /* what a rank has put that was asked about by FAMILY_FETCH */
    CT_MSG_FAMILY_KNOWN,   /* u32 node, text name: the node knows the job of a FAMILY_JOB */
    CT_MSG_FAMILY_BORN,    /* between heads: another job of the family; family/jobs.c */
    CT_MSG_FAMILY_ENDED,   /* u32 rank: of the sender's job */
    CT_MSG_DONE,           /* no process of the job is left there; all output is sent */

    /* down */
    CT_MSG_JOB,   /* u32 node, u32 nodes from there on that are the receiver's; job/jobdesc.h */
    CT_MSG_START, /* text where the store's first server is (""): all nodes are ready */
    CT_MSG_FENCE_DONE, /* as FENCE: everybody's bytes */
    CT_MSG_JOB_EVENT, /* u32 enum ct_job_event, u32 rank: to ranks of a job that outlives deaths */
    CT_MSG_FAMILY_JOB, /* another job of the family, as in family/jobs.h with its name before it */
    CT_MSG_STDIN,      /* bytes; none: end of file */
    CT_MSG_SIGNAL,     /* u32 number: for the ranks' process groups */
    CT_MSG_SIZE,       /* u32 rows, u32 columns: of the terminal */
    CT_MSG_END,        /* u32 grace in ms, 0: SIGKILL at once */
    CT_MSG_OUT_CLOSE,  /* u32 channel: nobody reads it any more, close the ranks' pipes */

    /* between ctranrun --status and a daemon, which answers and ends with DONE */
    CT_MSG_STATUS_ASK,  /* u32: with its ranks */
    CT_MSG_STATUS_JOB,  /* text job, text host, u32 hosts, u32 pid of ctranrun (0: it is on another
                           host), u64 ms since the start, u32 ranks, u32 running, text program */
    CT_MSG_STATUS_RANK, /* u32 rank, u32 pid (0: not started), u32 letter of its state (0: ended),
                           u32 wait status, u32 enum ct_rank_phase, u64 ms of CPU, u64 bytes
                           resident, text host, text program */
    CT_MSG_STATUS_MISSING, /* text host: it does not answer */

    /* between ctranrun --store-dump and a daemon, likewise */
    CT_MSG_STORE_ASK,   /* u32 0 */
    CT_MSG_STORE_WHERE, /* text the job's key, text where the first server is (""), u32 hosts (of a
                           job of one: 0), each: text */

    /* from node to node, by way of those between */
    CT_MSG_MODEX_ASK,   /* u32 to node, u32 from node, u32 request, u32 rank: what has it put? */
    CT_MSG_MODEX_DATA,  /* u32 to node, u32 request, u32 status, bytes */
    CT_MSG_DATA_ANSWER, /* from the head: u32 to node, u32 request, u32 enum ct_data_status, u32
                           values, each: text key, text name of the job ("": the asker's) and u32
                           rank that published it, u32 length, bytes */

    CT_MSG_STORES,       /* from the head: u32 to node, u32 servers of the store, each: text where
                            it is; the first is that node's, and hears it before START */
    CT_MSG_SPAWN_ANSWER, /* from the head: u32 to node, u32 request, u32 enum ct_spawn_status, text
                            its name for PMIx */
    CT_MSG_EVENT_PASSED, /* from the head: u32 to node, u32 number: it may send that much more */
    CT_MSG_FAMILY_MET,   /* from the head: u32 to node, ...; family/root.h, as the next two */
    CT_MSG_FAMILY_FETCH, /* likewise */
    CT_MSG_FAMILY_DATA,  /* likewise */
    CT_MSG_RANKS_ASK, /* by way of the head to all: u32 from node, u32 request: what do they do? */
    CT_MSG_RANKS,     /* u32 to node, u32 request, u32 from node, its ranks; status/ranktable.h */

    /* both ways */
    CT_MSG_FAMILY,      /* between heads of jobs of a family; family/jobs.h */
    CT_MSG_FAMILY_GONE, /* text name: a job of the family is over, and daemons forget it */
    CT_MSG_CREDIT,      /* u32 channel (CT_CHAN_STDIN: up), u32 bytes */
    CT_MSG_EVENT,       /* a rank tells all others something; pmix/event.h */

    /* up, from routers */
    CT_MSG_EVENT_TAKEN, /* u32 EVENTs that all who are waited for behind it have taken, since the
                           last one; tree/router_events.c */
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

/* What ranks are told when their job outlives deaths; job/recovery.h. */
enum ct_job_event {
    CT_JOB_EVENT_ENDED,
    CT_JOB_EVENT_NO_START,
    CT_JOB_EVENT_MAY_LEAVE,
    CT_JOB_EVENT_KINDS
};

#endif
