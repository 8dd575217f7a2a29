/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The terminal of ctranrun while a rank under a debugger has one of its own (pty.h). Each key goes
 * to the rank as it is, Ctrl-C and Ctrl-Z too, and the rank's terminal has the size of this one.
 * The terminal still processes what is written to it, so lines of other ranks look as usual.
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

/* Whether standard input and output are a terminal, and this process is in its foreground. */
bool ct_terminal_is_ours(void);

/* Passes keys on unchanged until ct_terminal_restore, or for the rest of the run if there is no
 * terminal. */
void ct_terminal_pass_keys(struct ct_terminal *t);
void ct_terminal_restore(struct ct_terminal *t);

void ct_terminal_size(uint32_t *rows, uint32_t *columns);

#endif
