/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that take the values of options, of the type ct_option_take_fn; see options.h. */
#ifndef CT_LAUNCHER_CLI_OPTIONS_TAKE_H
#define CT_LAUNCHER_CLI_OPTIONS_TAKE_H

#include "base/base.h"
#include "launcher/cli/options.h"

bool ct_take_ranks(struct ct_options *o, const char *opt, const char *value);
bool ct_take_hosts(struct ct_options *o, const char *opt, const char *value);
bool ct_take_hostfile(struct ct_options *o, const char *opt, const char *value);
bool ct_take_ppn(struct ct_options *o, const char *opt, const char *value);
bool ct_take_topology(struct ct_options *o, const char *opt, const char *value);
bool ct_take_host_order(struct ct_options *o, const char *opt, const char *value);
bool ct_take_agent(struct ct_options *o, const char *opt, const char *value);
bool ct_take_launch_timeout(struct ct_options *o, const char *opt, const char *value);
bool ct_take_fan_out(struct ct_options *o, const char *opt, const char *value);
bool ct_take_env(struct ct_options *o, const char *opt, const char *value);
bool ct_take_env_all(struct ct_options *o, const char *opt, const char *value);
bool ct_take_rank_env(struct ct_options *o, const char *opt, const char *value);
bool ct_take_wdir(struct ct_options *o, const char *opt, const char *value);
bool ct_take_set(struct ct_options *o, const char *opt, const char *value);
bool ct_take_initial_errhandler(struct ct_options *o, const char *opt, const char *value);
bool ct_take_map(struct ct_options *o, const char *opt, const char *value);
bool ct_take_gpus(struct ct_options *o, const char *opt, const char *value);
bool ct_take_bind(struct ct_options *o, const char *opt, const char *value);
bool ct_take_oversubscribe(struct ct_options *o, const char *opt, const char *value);
bool ct_take_report(struct ct_options *o, const char *opt, const char *value);
bool ct_take_stdin(struct ct_options *o, const char *opt, const char *value);
bool ct_take_tag(struct ct_options *o, const char *opt, const char *value);
bool ct_take_output_dir(struct ct_options *o, const char *opt, const char *value);
bool ct_take_debugger(struct ct_options *o, const char *opt, const char *value);
bool ct_take_debug_ranks(struct ct_options *o, const char *opt, const char *value);
bool ct_take_timeout(struct ct_options *o, const char *opt, const char *value);
bool ct_take_dry_run(struct ct_options *o, const char *opt, const char *value);
bool ct_take_recovery(struct ct_options *o, const char *opt, const char *value);
bool ct_take_verbose(struct ct_options *o, const char *opt, const char *value);
bool ct_take_status(struct ct_options *o, const char *opt, const char *value);
bool ct_take_store_dump(struct ct_options *o, const char *opt, const char *value);
bool ct_take_analyze(struct ct_options *o, const char *opt, const char *value);
bool ct_take_trace_dump(struct ct_options *o, const char *opt, const char *value);
bool ct_take_completion(struct ct_options *o, const char *opt, const char *value);
bool ct_take_version(struct ct_options *o, const char *opt, const char *value);
bool ct_take_help(struct ct_options *o, const char *opt, const char *value);

/* Whether the library accepts all variables in the environment and in files: the ranks read these
 * too, and would refuse them. Returns false after a line for each bad variable. */
bool ct_options_check_environment(void);

/* Writes one line to standard error. Returns false. */
bool ct_options_complain(const char *fmt, ...) CT_PRINTF(1, 2);

#endif
