/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the classes; see distance.h. */
#include "topo/distance.h"

const char *ct_distance_name(enum ct_distance d)
{
    static const char *const names[CT_DIST_CLASSES] = {"self", "node", "nvlink", "rack",
                                                       "zone", "dc",   "beyond"};
    return (unsigned)d < CT_DIST_CLASSES ? names[d] : "?";
}
