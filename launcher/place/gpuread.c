/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine and the user's settings, for the choice of GPUs; see gpuread.h. */
#include "config.h"
#include "launcher/place/gpuread.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "launcher/launcher.h"

static int read_machine(struct ct_machine *m, const struct ct_config *cfg, const struct ct_log *log,
                        char *why, size_t cap)
{
    char reason[512] = "out of memory";
    int  rc = ct_machine_read(m, cfg, log, reason, sizeof reason);
    if (rc != CTRAN_SUCCESS) {
        snprintf(why, cap, "cannot find the GPUs: %s", reason);
    }
    return rc == CTRAN_SUCCESS ? 0 : rc == CTRAN_ERR_ARG ? CT_EXIT_USAGE : CT_EXIT_INTERNAL;
}

static int gpuread_choose(struct ct_gpus *g, const struct ct_config *cfg, const struct ct_log *log,
                          const struct ct_gpu_order *order, char *why, size_t cap)
{
    struct ct_machine *m = calloc(1, sizeof *m);
    if (m == NULL) {
        snprintf(why, cap, "cannot choose the ranks' GPUs: out of memory");
        return CT_EXIT_INTERNAL;
    }
    int status = read_machine(m, cfg, log, why, cap);
    if (status != 0) {
        free(m);
        return status;
    }
    return ct_gpus_init(g, m, order, why, cap);
}

int ct_gpus_read(struct ct_gpus *g, const struct ct_jobdesc *d, uint32_t n, const cpu_set_t *sets,
                 char *why, size_t cap)
{
    struct ct_log    log;
    struct ct_config cfg;
    int              status = CT_EXIT_USAGE;
    ct_log_init(&log, CT_LOG_ERROR, CT_DAEMON_NAME); /* of unknown names the ranks warn */
    if (ct_config_load(&cfg, &log) == CTRAN_SUCCESS) {
        struct ct_gpu_order order = {.host = d->nodes[d->me].host,
                                     .ranks = n,
                                     .own = d->gpus,
                                     .visible = getenv("CUDA_VISIBLE_DEVICES"),
                                     .device_order = getenv("CUDA_DEVICE_ORDER"),
                                     .map = cfg.gpu_map,
                                     .nic_map = cfg.nic_map,
                                     .sets = sets};
        log.level = (enum ct_log_level)cfg.log;
        status = gpuread_choose(g, &cfg, &log, &order, why, cap);
    } else {
        snprintf(why, cap, "cannot choose the ranks' GPUs: a CTRAN_ variable has a bad value");
    }
    ct_config_fini(&cfg);
    return status;
}
