/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of ctranrun: the table, and the reader of a command line. */
#ifndef CT_LAUNCHER_CLI_OPTIONS_H
#define CT_LAUNCHER_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/job/job.h"

enum ct_action {
    CT_ACTION_RUN,
    CT_ACTION_HELP,
    CT_ACTION_VERSION,
    CT_ACTION_STATUS,
    CT_ACTION_STORE_DUMP,
    CT_ACTION_ANALYZE,
    CT_ACTION_TRACE_DUMP,
    CT_ACTION_COMPLETION
};

enum ct_host_order { CT_ORDER_DEFAULT, CT_ORDER_GIVEN, CT_ORDER_TOPOLOGY };

struct ct_options {
    enum ct_action action;
    const char    *word; /* of STATUS and STORE_DUMP: a job or NULL; ANALYZE, TRACE_DUMP: a
                             job; of COMPLETION: a shell */
    struct ct_jobdesc
                desc; /* without job, ways, and files of programs (ctranrun.c, hosts/layout.h) */
    char       *set;  /* --set: one NAME=VALUE a line; NULL for none */
    uint64_t    timeout_ms;           /* 0 for none */
    const char *host_list, *hostfile; /* NULL: not given */
    uint32_t    ppn, fan_out;         /* 0: not given */
    uint64_t    launch_timeout_ms;
    uint32_t    local; /* the node that is this machine, CT_NO_NODE for none */
    enum ct_host_order host_order;
    bool               from_slurm;  /* the hosts are those of an allocation of Slurm */
    bool               ranks_given; /* -n was given */
    bool               tag_output;
    bool               stdin_given;
    bool               dry_run; /* print the plan of the job and start nothing */
};

/* Takes an option as it was written, and its value. Returns false after a message. An option of one
 * program goes to the last program of o->desc.apps. */
typedef bool (*ct_option_take_fn)(struct ct_options *o, const char *opt, const char *value);

struct ct_option_row {
    const char *names[3];
    const char *value; /* NULL: no value; "a|b|c": one of these; "[X]": the value may be missing */
    ct_option_take_fn take;
    const char       *help;
};

/* Returns the table of all options, and its length. */
const struct ct_option_row *ct_options_rows(size_t *n);

/* Reads the command line. A program's options end at its name, and the program at ":". Returns
 * false after one line on standard error. ct_options_fini is due in any case. */
bool ct_options_parse(struct ct_options *o, int argc, char **argv);

/* Checks what only the whole command line tells, once the nodes of the job are known
 * (hosts/layout.h). Returns false after one line on standard error. */
bool ct_options_check(struct ct_options *o);

/* Prints the text of --help to standard output. */
void ct_options_print_help(void);

void ct_options_fini(struct ct_options *o);

#endif
