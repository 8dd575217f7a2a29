/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks a daemon of this machine by the socket in its session directory. Used by command.c and
 * store_dump.c. */
#ifndef CT_LAUNCHER_STATUS_ASK_H
#define CT_LAUNCHER_STATUS_ASK_H

#include "launcher/msg/msg.h"

enum ct_status_ask { CT_STATUS_ASK_ANSWERED, CT_STATUS_ASK_SILENT, CT_STATUS_ASK_GONE };

/* Sends a question that is one number, and hands the messages of the answer to fn. Returns ANSWERED
 * when the answer is complete; SILENT if it takes too long or makes no sense; GONE if no daemon
 * listens. */
enum ct_status_ask ct_status_ask(int dir_fd, enum ct_msg_type question, uint32_t v,
                                 ct_conn_msg_fn fn, void *arg);

#endif
