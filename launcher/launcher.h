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
 * How a job ends. The daemon reports each rank's exit. The head judges it, prints the first failure
 * and answers END: SIGTERM, a short grace, then SIGKILL for every descendant of the daemon. With
 * --enable-recovery the death of a rank ends nothing: the daemon tells the other ranks, and the job
 * ends with the last rank. When no descendant is left and the pipes are drained, the daemon sends
 * DONE and ends. If head or daemon dies, the other sees its stream end and kills what is left. Both
 * are subreapers, so every process of the job stays a descendant of the one that lives.
 *
 * Output and memory. Bytes flow only against credit: the daemon sends at most CT_OUT_WINDOW of a
 * stream that the head has not written yet, and the head sends only as much standard input as rank
 * 0 has taken. So a slow reader blocks the writing ranks, and control messages still pass.
 */
#ifndef CT_LAUNCHER_LAUNCHER_H
#define CT_LAUNCHER_LAUNCHER_H

#define CT_DAEMON_NAME    "ctrand"
#define CT_SESSION_PREFIX "ctran-session"

#define CT_ENV_BOOTSTRAP_TIMEOUT "CTRAN_BOOTSTRAP_TIMEOUT"

/* How long the launcher waits for what should not take long, in percent of the normal time. The
 * tests build a launcher with less patience, to see what happens when the time is over. */
#ifndef CT_PATIENCE
#define CT_PATIENCE 100
#endif

/* The descriptor of the daemon's stream to its parent. */
#define CT_DAEMON_FD 3

/* The exit statuses that are ctranrun's own. All others are the job's. */
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
    CT_FAN_OUT = 32, /* children of a process in the tree, without --fan-out */

    /* From so many ranks of a node on, ranks get the job's data from shared memory (pmix/lib.c). */
    CT_PMIX_SHARED_FROM = 48,

    /* From SIGTERM to SIGKILL, when the launcher ends the job. */
    CT_TERM_GRACE_MS = 150,
    /* From a signal of the user that ends the job to SIGKILL; and then for a reader of the
     * output. */
    CT_SIGNAL_GRACE_MS = 2000,
    /* For a killed process to disappear on a busy machine. */
    CT_KILL_LIMIT_MS = 100 * CT_PATIENCE,
    /* For a word from the daemon of an ended job; then the daemon is killed. */
    CT_SILENT_MS = 200 * CT_PATIENCE,

    CT_LAUNCH_LIMIT_MS = 60000, /* for all hosts to be ready, without --launch-timeout */
    CT_SLOW_HOSTS_MS = 10000,   /* after that, or half the limit, a line names the missing hosts */
    CT_AGENT_LIMIT_MS = 1000,   /* for an agent to end after the last message from its host */

    CT_STATUS_LIMIT_MS = 5000, /* for a question of --status and its answer */
    CT_GATHER_LIMIT_MS = 2000, /* for all nodes to tell the state of their ranks */

    /* Nobody waits for a child that has taken no byte of its pending events at so many looks. By
     * then a slow stream has moved, a lost link is back, and a swapping process goes on. Ranks that
     * tell events wait as long at most. */
    CT_EVENTS_LOOK_MS = 10 * CT_PATIENCE,
    CT_EVENTS_LOOKS = 5,

    CT_TRACE_MESSAGE_MAX = 128 << 10, /* a trace and what is around it, in bytes */

    CT_PROGRESS_AFTER_MS = 1000, /* a start that takes longer shows its progress on a terminal, */
    CT_PROGRESS_EACH_MS = 100,   /* so often */

    CT_LINE_MAX = 64 << 10, /* a longer line is passed on before it ends */
    CT_LINE_IDLE_MS = 5000, /* such a line may be silent this long while other lines wait */
    /* A rank that may get input, has begun a line and is silent this long may show a prompt: the
     * beginning of the line is passed on. */
    CT_PROMPT_IDLE_MS = 200,
    CT_OUT_WINDOW = 192 << 10, /* bytes of a stream on their way to the next process of the tree */
    CT_OUT_AHEAD = 64 << 10,   /* bytes that the head has taken and not written */
    CT_IN_WINDOW = 64 << 10,   /* bytes of standard input on their way to a rank */

    /* What ranks publish (family/published.h), in bytes, with what it costs to keep. */
    CT_DATA_MESSAGE_MAX = 4 << 20, /* one request, one answer */
    CT_DATA_RANK_MAX = 16 << 20,   /* of one rank */
    CT_DATA_JOB_MAX = 256 << 20,   /* of all ranks */
    CT_DATA_KEY_MAX = 511,         /* a key: PMIX_MAX_KEYLEN */
    CT_DATA_KEYS_MAX = 1024,       /* keys of a request, not bytes */
    /* Requests of a rank that are not answered yet: how many; their bytes, and the bytes of answers
     * that the rank has not got yet. An answer up to CT_DATA_SMALL is not counted. */
    CT_DATA_ASKED_MAX = 32,
    CT_DATA_UNDER_WAY_MAX = 8 << 20,
    CT_DATA_SMALL = 8 << 10,

    /* Events of ranks (pmix/event.h), in bytes. */
    CT_EVENT_MAX = 64 << 10, /* one event */
    /* Of a node: events that the head has not passed on yet. */
    CT_EVENTS_UNDER_WAY_MAX = 8 << 20,
    /* Of all nodes together: events that they have sent and the head has not passed on. A node may
     * use its share. */
    CT_EVENTS_WINDOW = 8 << 20,
    /* Events that the head has passed on and not every child has taken. */
    CT_EVENTS_SLACK = 16 << 20,
    /* Events that a process of the tree keeps for its children: the last two, with the cost of
     * memory. */
    CT_EVENTS_BEHIND_MAX = 32 << 20,
    /* Events that wait in a child's stream; one more may. */
    CT_EVENTS_AHEAD = 128 << 10,

    /* Bytes of broadcasts that wait for a child. A broadcast is short, except an announced job. */
    CT_BROADCAST_BEHIND_MAX = 64 << 20,

    CT_SPAWN_MAX = 64,                  /* jobs that ranks of a job have spawned, at a time */
    CT_SPAWN_DEPTH_MAX = 4,             /* jobs one in another */
    CT_SPAWN_APPS_MAX = 64,             /* programs of a spawned job */
    CT_FAMILY_ASKED_MAX = 64 << 20,     /* bytes of a node's questions to other jobs, unanswered */
    CT_FAMILY_ANNOUNCED_MAX = 16 << 20, /* bytes of other jobs' descriptions that a head keeps */
};

#endif
