/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher - ctranrun, which starts the ranks of a job, and ctrand, its daemon on each node.
 *
 * The head (ctranrun) reads the options, owns the terminal and decides: it writes what the ranks
 * print, hands its standard input to rank 0, catches signals, chooses the exit status and says
 * what went wrong. The node daemon (ctrand) acts: it hosts the PMIx server, starts the ranks of
 * its node, gathers their output, reaps and kills them. Between the two runs one byte stream with
 * framed messages (msg/msg.h) and nothing else: no shared memory, no shared files.
 *
 * A job of several nodes has a tree of processes (tree/tree.h). An agent (ssh, srun) starts a
 * router process on each other machine. A router process is to the daemon of its machine what the
 * head is to the daemon of its own: it starts the daemon, passes messages on, merges output, and
 * starts the router processes below it. All streams between machines are those of agents. Ranks are
 * started when the daemons of all nodes are ready.
 *
 * The folders, from the ground up. A folder uses those above it in this list, by the header that
 * bears its name; tests/house/check_floors.py holds the #include lines against that.
 *
 *     msg      messages and connections
 *     job      the description of a job, lists of ranks and of strings
 *     proc     processes of a machine: finding files, starting ranks, killing what is left
 *     io       standard input and output
 *     place    CPUs and GPUs for ranks, --dry-run
 *     status   the state of all ranks, --status, --store-dump
 *     tree     the tree of processes that messages go through
 *     family   jobs that ranks spawn, and what jobs of one family share
 *     pmix     the PMIx server of a node
 *     cli      the command line
 *     hosts    from hosts to the nodes of a job
 *     head     the job as ctranrun sees it
 *     daemon   the node daemon
 *
 * ctranrun.c is the main function of the head: cli, hosts, head. ctrand.c is that of the daemon.
 *
 * How a job ends. The daemon reports each rank's exit; the head judges it, prints the first failure
 * and answers END: SIGTERM, a short grace, SIGKILL for whatever descends from the daemon. With
 * --enable-recovery the death of a rank ends nothing: the daemon tells the other ranks, and the job
 * ends with the last of them. When no descendant is left and the pipes are drained, the daemon says
 * DONE and leaves. If one of the two dies, the other sees its stream end and clears up alone: both
 * are subreapers, so every process of the job stays a descendant of whoever is left.
 *
 * Output and memory. Bytes flow only against credit: the daemon sends at most CT_OUT_WINDOW of a
 * stream that the head has not yet written, and the head as much standard input as rank 0 has
 * taken. A slow reader therefore blocks the writing ranks, and control messages still pass.
 */
#ifndef CT_LAUNCHER_LAUNCHER_H
#define CT_LAUNCHER_LAUNCHER_H

#define CT_DAEMON_NAME    "ctrand"
#define CT_SESSION_PREFIX "ctran-session"

#define CT_ENV_BOOTSTRAP_TIMEOUT "CTRAN_BOOTSTRAP_TIMEOUT"

/* How long the launcher waits for what should not take long, in percent. A build of its own in the
 * tests has less patience, so that they see what comes then. */
#ifndef CT_PATIENCE
#define CT_PATIENCE 100
#endif

/* Descriptor on which the daemon finds its stream to the head. */
#define CT_DAEMON_FD 3

/* Exit statuses of ctranrun that are its own; the others are the job's. */
enum {
    CT_EXIT_INTERNAL = 1,      /* the launcher itself failed, or its daemon was lost */
    CT_EXIT_USAGE = 2,         /* bad option or argument; nothing was started */
    CT_EXIT_TIMEOUT = 124,     /* --timeout */
    CT_EXIT_CANNOT_EXEC = 126, /* the program is there and cannot be run */
    CT_EXIT_NOT_FOUND = 127,   /* there is no such program */
    CT_EXIT_SIGNAL = 128,      /* plus the number of the signal */
};

enum {
    CT_MAX_RANKS = 65536,
    CT_MAX_FAN_OUT = 1024,
    CT_MAX_GPUS_A_RANK = 256,
    CT_FAN_OUT = 32, /* children of a process in the tree */
    CT_PMIX_SHARED_FROM =
        48, /* ranks of a node get the job's data from shared memory; pmix/lib.c */

    CT_TERM_GRACE_MS = 150,    /* from SIGTERM to SIGKILL when the job is ended */
    CT_SIGNAL_GRACE_MS = 2000, /* from a forwarded SIGINT, SIGTERM or SIGHUP to SIGKILL; and then
                                  for a reader of our output */

    CT_KILL_LIMIT_MS =
        100 * CT_PATIENCE, /* a killed process may take to be torn down on a busy machine */
    CT_SILENT_MS =
        200 * CT_PATIENCE, /* an ended job's daemon says nothing and owes us something: killed */

    CT_LAUNCH_LIMIT_MS = 60000, /* for all hosts to be ready, unless --launch-timeout says else */
    CT_SLOW_HOSTS_MS = 10000,   /* after that, or half the limit, the missing ones are named */
    CT_AGENT_LIMIT_MS = 1000,   /* for an agent to end after its host has said good-bye */

    CT_STATUS_LIMIT_MS = 5000, /* for a question of --status and its answer */
    CT_GATHER_LIMIT_MS = 2000, /* for all nodes to tell what their ranks do */

    /* Who has taken no byte of the events that wait for it at so many looks is not waited for: a
     * stream that merely is slow moves, a link that was lost is back, and who swaps goes on, by
     * then; and what others tell at most waits as long. */
    CT_EVENTS_LOOK_MS = 10 * CT_PATIENCE,
    CT_EVENTS_LOOKS = 5,

    CT_PROGRESS_AFTER_MS = 1000, /* a start that takes longer tells a terminal how far it is, */
    CT_PROGRESS_EACH_MS = 100,   /* so often */

    CT_LINE_MAX = 64 << 10,    /* longer lines are passed on before they end */
    CT_LINE_IDLE_MS = 5000,    /* such a line may keep others waiting, silent, this long */
    CT_PROMPT_IDLE_MS = 200,   /* a rank that may get input is silent so long after the beginning of
                                  a line: that is passed on, as it may be a prompt */
    CT_OUT_WINDOW = 192 << 10, /* bytes of one stream under way to the next process of the tree */
    CT_OUT_AHEAD = 64 << 10,   /* bytes that the head has taken and not written */
    CT_IN_WINDOW = 64 << 10,   /* bytes of standard input under way to rank 0 */

    /* What ranks publish (published.h), with what is spent on keeping it, in bytes. */
    CT_DATA_MESSAGE_MAX = 4 << 20,     /* one request, one answer */
    CT_DATA_RANK_MAX = 16 << 20,       /* of one rank */
    CT_DATA_JOB_MAX = 256 << 20,       /* of all */
    CT_DATA_KEY_MAX = 511,             /* a key: PMIX_MAX_KEYLEN */
    CT_DATA_KEYS_MAX = 1024,           /* keys of a request */
    CT_EVENT_MAX = 64 << 10,           /* bytes of an event that a rank tells others */
    CT_EVENTS_UNDER_WAY_MAX = 8 << 20, /* bytes of a node's that the head has not passed on yet, */
    CT_EVENTS_WINDOW = 8 << 20,      /* and of all nodes' that they have sent it, by which each has
                                          its part; */
    CT_EVENTS_SLACK = 16 << 20,      /* that it has passed on and not every child has taken */
    CT_EVENTS_BEHIND_MAX = 32 << 20, /* that a process of the tree keeps for its children: these two
                                          with what their memory costs besides */
    CT_EVENTS_AHEAD = 128 << 10,     /* that it has given to a child's stream, or one more */
    CT_BROADCAST_BEHIND_MAX = 64 << 20, /* of what a child may not miss and has not asked for: such
                                        messages are short, but for CT_FAMILY_ANNOUNCED_MAX */
    CT_SPAWN_MAX = 64,                  /* jobs that ranks have spawned, at a time */
    CT_SPAWN_DEPTH_MAX = 4,             /* one in another */
    CT_SPAWN_APPS_MAX = 64,             /* programs of one */
    CT_FAMILY_ASKED_MAX = 64 << 20,     /* bytes of a node's questions to other jobs, unanswered */
    CT_FAMILY_ANNOUNCED_MAX = 16 << 20, /* bytes of other jobs' descriptions that a head keeps */
    CT_DATA_UNDER_WAY_MAX = 8 << 20, /* bytes of one rank's requests that are not answered yet; of
                                        answers that it does not have yet */
    CT_DATA_SMALL = 8 << 10,         /* up to this size an answer is not counted there */
    CT_DATA_ASKED_MAX = 32,          /* requests of one rank that are not answered yet */
};

#endif
