/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * io - standard input and output between the ranks and the user. In the daemon rankio.h reads what
 * the ranks print and rankin.h feeds their standard input. merge.h merges the output of several
 * processes of the tree, line by line. In the head output.h writes to the user's streams, input.h
 * reads the user's standard input, pty.h makes a pseudo-terminal for a rank under a debugger, and
 * terminal.h relays the user's terminal to it. Bytes flow only against credit, so a slow reader
 * costs no memory.
 */
#ifndef CT_LAUNCHER_IO_IO_H
#define CT_LAUNCHER_IO_IO_H

#include "launcher/io/output.h"
#include "launcher/io/input.h"
#include "launcher/io/terminal.h"
#include "launcher/io/pty.h"
#include "launcher/io/merge.h"
#include "launcher/io/rankio.h"
#include "launcher/io/rankin.h"

#endif
