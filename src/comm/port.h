/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports: where processes call each other that have no communicator in common, those of other jobs
 * of the family included. A port has the number of the process that has opened it and a number
 * there; its name says both. A process calls a port by a message to that process, which answers
 * when it accepts, or at once if the port is not open. The answer has the number of a new
 * communicator, so the two processes have a context in common from then on (ct_comm_accept,
 * ct_comm_connect).
 *
 * A call ends when the process at the other end is lost. Calls wait in line until they are
 * accepted. Any thread.
 */
#ifndef CT_COMM_PORT_H
#define CT_COMM_PORT_H

#include "ep/ep.h"

/* From the start of a process to its end: messages of ports may come before its first port. */
int  ct_port_init(struct ct_process *p);
void ct_port_fini(struct ct_process *p);

/* Opens a port and writes its name, of at most `cap` bytes with the 0. Processes of other jobs, if
 * there can be any, reach this process before anybody knows the name. CTRAN_ERR_NO_MEM,
 * CTRAN_ERR_BOOTSTRAP. */
int ct_port_open(struct ct_process *p, char *name, size_t cap);
/* Closes a port. Calls that nobody has accepted, and accepts that wait, end with CTRAN_ERR_PORT.
 * CTRAN_ERR_PORT: it is no open port of this process. */
int ct_port_close(struct ct_process *p, const char *name);

/* Waits for a call of the port, which is one of this process, and answers with `id`. *peer is the
 * process that has called. CTRAN_ERR_PORT: it is no open port of this process, or was closed.
 * `lost`, unless it is NULL, becomes true if nobody will call: CTRAN_ERR_SPAWN. */
int ct_port_accept(struct ct_process *p, const char *name, uint64_t id, const _Atomic bool *lost,
                   uint32_t *peer);
/* Calls a port and waits until the call is accepted, or withdraws it after so long. *id is what the
 * other side has answered, *peer its process. CTRAN_ERR_PORT: the name is none of a port, the port
 * is not open, or its process cannot be reached or has ended, or the time is over. */
#define CT_PORT_FOREVER UINT64_MAX
int ct_port_call(struct ct_process *p, const char *name, uint64_t timeout_ns, uint64_t *id,
                 uint32_t *peer);

#endif
