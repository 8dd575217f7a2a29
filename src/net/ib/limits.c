/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits by distance (NCCLX sec. 4.4.1): a list has a value each for peers in the same rack, zone,
 * data centre, and beyond; where a list is shorter its last value stands for the rest. Farther
 * peers get more, since more is on its way for as long.
 */
#define CT_FOLDER "net"
#include "net/ib/ib.h"
#include "topo/topo.h"

struct list {
    const char      *name, *text;
    enum ct_var_type type;
    int64_t          min, max;
};

static int ib_limits_refuse(const struct ct_log *log, const struct list *list)
{
    ct_error(log,
             "%s is \"%s\"; it takes up to %d numbers from %lld to %lld, separated by commas: for "
             "peers in the same rack, zone, data centre, and beyond",
             list->name, list->text, CT_IB_CLASSES, (long long)list->min, (long long)list->max);
    return CTRAN_ERR_CONFIG;
}

static int read_list(const struct ct_log *log, const struct list *list,
                     int64_t values[CT_IB_CLASSES])
{
    const char *at = list->text;
    unsigned    n = 0;
    for (bool more = true; more; n++) {
        const char  *end = strchr(at, ',');
        const size_t len = end != NULL ? (size_t)(end - at) : strlen(at);
        char         word[32];
        if (n == CT_IB_CLASSES || len == 0 || len >= sizeof word) {
            return ib_limits_refuse(log, list);
        }
        memcpy(word, at, len);
        word[len] = '\0';
        if (!ct_config_number(list->type, word, &values[n]) || values[n] < list->min ||
            values[n] > list->max) {
            return ib_limits_refuse(log, list);
        }
        more = end != NULL;
        at = more ? end + 1 : at;
    }
    for (; n < CT_IB_CLASSES; n++) {
        values[n] = values[n - 1];
    }
    return CTRAN_SUCCESS;
}

int ct_ib_limits_read(const struct ct_config *cfg, const struct ct_log *log,
                      struct ct_ib_limits limits[CT_IB_CLASSES])
{
    const struct list lists[] = {
        {"CTRAN_IB_QPS", cfg->ib_qps, CT_VAR_INT, 1, CT_IB_MAX_DATA},
        {"CTRAN_IB_SEGMENT", cfg->ib_segment, CT_VAR_SIZE, 1024, 1 << 30},
        {"CTRAN_IB_OUTSTANDING", cfg->ib_outstanding, CT_VAR_INT, 1, 1024},
        {"CTRAN_IB_TRAFFIC_CLASS", cfg->ib_traffic_class, CT_VAR_INT, 0, 255},
    };
    int64_t values[4][CT_IB_CLASSES];
    for (size_t i = 0; i < CT_ARRAY_LEN(lists); i++) {
        const int rc = read_list(log, &lists[i], values[i]);
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
    }
    for (unsigned c = 0; c < CT_IB_CLASSES; c++) {
        limits[c] = (struct ct_ib_limits){.qps = (uint32_t)values[0][c],
                                          .segment_bytes = (uint64_t)values[1][c],
                                          .outstanding = (uint32_t)values[2][c],
                                          .traffic_class = (uint32_t)values[3][c]};
    }
    return CTRAN_SUCCESS;
}

enum ct_ib_class ct_ib_class_of(int distance)
{
    return distance <= CT_DIST_RACK   ? CT_IB_RACK
           : distance == CT_DIST_ZONE ? CT_IB_ZONE
           : distance == CT_DIST_DC   ? CT_IB_DC
                                      : CT_IB_BEYOND;
}
