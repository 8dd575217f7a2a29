/* SPDX-License-Identifier: BSD-3-Clause */
/* The terminal of ctranrun; see terminal.h. Used by head/run.c and ctranrun.c. */
#include "config.h"
#include "launcher/io/terminal.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool ct_terminal_is_ours(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* A process that changes a terminal from its background is stopped by SIGTTOU, unless SIGTTOU is
 * blocked. */
static bool terminal_set(const struct termios *settings)
{
    sigset_t stop, before;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTTOU);
    sigprocmask(SIG_BLOCK, &stop, &before);
    bool ok = tcsetattr(STDIN_FILENO, TCSANOW, settings) == 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return ok;
}

void ct_terminal_pass_keys(struct ct_terminal *t)
{
    if (t->raw || tcgetattr(STDIN_FILENO, &t->before) != 0) {
        return;
    }
    struct termios raw = t->before;
    cfmakeraw(&raw);
    raw.c_oflag = t->before.c_oflag;
    t->raw = terminal_set(&raw);
}

void ct_terminal_restore(struct ct_terminal *t)
{
    if (t->raw) {
        (void)terminal_set(&t->before); /* the terminal may be gone */
        t->raw = false;
    }
}

void ct_terminal_size(uint32_t *rows, uint32_t *columns)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    (void)ioctl(STDIN_FILENO, TIOCGWINSZ, &size); /* else a usual size */
    *rows = size.ws_row;
    *columns = size.ws_col;
}
