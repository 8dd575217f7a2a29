/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device - all calls that move or reduce data, on memory that the processor does not reach, on the
 * host's, and on mixes of both. Usage: device [SEED]
 */
#include "device.h"

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"modes of messages", device_modes},
        {"datatypes", device_types},
        {"exchanges", device_exchange},
        {"random traffic", device_traffic},
        {"packing and local reductions", device_local},
        {"copies that fail", device_failures},
        {"memory of peers", device_peers},
        {"collectives", device_coll},
        {"collectives with counts", device_coll_counts},
        {"neighbours", device_neighbors},
        {"inter-communicators", device_inter},
    };
    check_start(argc, argv);
    mem_start();
    check_run(subjects, LEN(subjects));
    return check_end();
}
