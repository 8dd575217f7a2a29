/* SPDX-License-Identifier: BSD-3-Clause */
/* Asking a daemon of this machine by the socket in its directory. Used by --status and
 * --store-dump. */
#ifndef CT_LAUNCHER_STATUS_ASK_H
#define CT_LAUNCHER_STATUS_ASK_H

#include "launcher/msg/msg.h"

enum ct_status_ask { CT_STATUS_ASK_ANSWERED, CT_STATUS_ASK_SILENT, CT_STATUS_ASK_GONE };

/* Sends a question that is one number, hands the messages of the answer to fn, and returns when it
 * is complete; or silent, where that takes too long or it answers something else; or gone, where
 * there is nobody to be asked. */
enum ct_status_ask ct_status_ask(int dir_fd, enum ct_msg_type question, uint32_t v,
                                 ct_conn_msg_fn fn, void *arg);

#endif
