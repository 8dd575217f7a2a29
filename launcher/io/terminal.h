/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our terminal while a debugged rank has one of its own (pty.h): each key goes to the rank as it
 * is, Ctrl-C and Ctrl-Z too, and the rank's terminal has the size of ours. What is written is still
 * processed here, so that lines of other ranks come out as ever.
 */
#ifndef CT_LAUNCHER_IO_TERMINAL_H
#define CT_LAUNCHER_IO_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <termios.h>

struct ct_terminal {
    struct termios before;
    bool           raw;
};

/* Whether our standard input and output are a terminal that we may use just now. */
bool ct_terminal_is_ours(void);

/* Keys pass as they are, until the second call, or for good if there is no terminal. */
void ct_terminal_pass_keys(struct ct_terminal *t);
void ct_terminal_restore(struct ct_terminal *t);

void ct_terminal_size(uint32_t *rows, uint32_t *columns);

#endif
