/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctranrun --completion: what a shell needs to complete the command line, made from the table of
 * options. The installed files (launcher/cli/completion) are this output; "make update-completion"
 * renews them.
 */
#ifndef CT_LAUNCHER_CLI_COMPLETION_H
#define CT_LAUNCHER_CLI_COMPLETION_H

/* Prints the completion for bash, zsh or fish. */
void ct_completion_print(const char *shell);

#endif
