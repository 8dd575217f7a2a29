/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cli - the command line of ctranrun: the table of options (options.h), the functions that read
 * their values (options_take.h), the options of other launchers (foreign.h), and the files by which
 * shells complete a command line (completion.h).
 */
#ifndef CT_LAUNCHER_CLI_CLI_H
#define CT_LAUNCHER_CLI_CLI_H

#include "launcher/cli/options.h"
#include "launcher/cli/options_take.h"
#include "launcher/cli/completion.h"

#endif
