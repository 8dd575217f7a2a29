/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * msg - the messages between the processes of the launcher. Two processes share one byte stream and
 * nothing else, so the same messages can run over a network. types.h lists the types of messages
 * and their payloads, pack.h writes and reads payloads, conn.h sends and receives messages.
 */
#ifndef CT_LAUNCHER_MSG_MSG_H
#define CT_LAUNCHER_MSG_MSG_H

#include "launcher/msg/types.h"
#include "launcher/msg/pack.h"
#include "launcher/msg/conn.h"

#endif
