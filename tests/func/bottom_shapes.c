/* SPDX-License-Identifier: BSD-3-Clause */
/* The shapes of bottom.h: which blocks the two buffers of a call have, and on which teams. */
#include "bottom.h"

/* One buffer, which is read at the root and written elsewhere. */
const struct shape bcasts = {.recv = ONE, .teams = ON_WORLD | ON_GROUPS};

/* ---- reductions ------------------------------------------------------------------------------ */

const struct shape reduces = {ONE, ONE, .in_place = SEND_AT_ROOT, .teams = ON_WORLD | ON_GROUPS,
                              .one_type = true};
const struct shape allreduces = {ONE, ONE, .in_place = SEND_EVERYWHERE,
                                 .teams = ON_WORLD | ON_GROUPS, .one_type = true};
const struct shape scans = {ONE, ONE, .in_place = SEND_EVERYWHERE, .teams = ON_WORLD,
                            .one_type = true};
const struct shape scatters_blocks = {
    EACH, ONE, BY_PART, SEND_EVERYWHERE, .teams = ON_WORLD | ON_GROUPS, .one_type = true};
/* The parts differ. */
const struct shape scatters_parts = {
    EACH,          ONE, BY_PART, SEND_EVERYWHERE, .teams = ON_WORLD | ON_GROUPS, .one_type = true,
    .displs = true};

/* ---- blocks ---------------------------------------------------------------------------------- */

const struct shape gathers = {ONE, EACH, EVEN, SEND_AT_ROOT, .teams = ON_WORLD | ON_GROUPS};
const struct shape gathers_v = {
    ONE, EACH, BY_SENDER, SEND_AT_ROOT, .teams = ON_WORLD | ON_GROUPS, .displs = true};
const struct shape scatters = {EACH, ONE, EVEN, RECV_AT_ROOT, .teams = ON_WORLD | ON_GROUPS};
const struct shape scatters_v = {
    EACH, ONE, BY_RECEIVER, RECV_AT_ROOT, .teams = ON_WORLD | ON_GROUPS, .displs = true};
const struct shape allgathers = {ONE, EACH, EVEN, SEND_EVERYWHERE, .teams = ON_WORLD | ON_GROUPS};
const struct shape allgathers_v = {
    ONE, EACH, BY_SENDER, SEND_EVERYWHERE, .teams = ON_WORLD | ON_GROUPS, .displs = true};
const struct shape alltoalls = {EACH, EACH, EVEN, SEND_EVERYWHERE, .teams = ON_WORLD | ON_GROUPS};
const struct shape alltoalls_v = {
    EACH, EACH, BY_PAIR, SEND_EVERYWHERE, .teams = ON_WORLD | ON_GROUPS, .displs = true};

const struct shape dynamics = {EACH, EACH, .teams = ON_WORLD, .one_type = true};

const struct shape near_allgathers = {ONE, EACH, EVEN, .teams = ON_RING};
const struct shape near_allgathers_v = {ONE, EACH, BY_SENDER, .teams = ON_RING, .displs = true};
const struct shape near_alltoalls = {EACH, EACH, EVEN, .teams = ON_RING};
const struct shape near_alltoalls_v = {EACH, EACH, BY_PAIR, .teams = ON_RING, .displs = true};

/* ---- messages on a ring, and calls of one rank ----------------------------------------------- */

const struct shape sends = {ONE, ONE, .teams = ON_WORLD, .posted = true};
const struct shape receives = {ONE, ONE, .teams = ON_WORLD, .awaited = true};
const struct shape exchanges = {ONE, ONE, .teams = ON_WORLD};
const struct shape replaces = {.recv = ONE, .teams = ON_WORLD};
const struct shape local = {ONE, ONE, .teams = ON_WORLD};
const struct shape local_reduces = {ONE, ONE, .teams = ON_WORLD, .one_type = true};
