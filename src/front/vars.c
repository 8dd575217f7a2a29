/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration as the front end's tool interface shows it. */
#define CT_FOLDER "front"
#include "front/front.h"

#include "api/api.h"

int ct_front_vars(void)
{
    return CT_VAR_COUNT;
}

const struct ct_var *ct_front_var(int i)
{
    return &ct_config_vars()[i];
}

static int64_t number_of(const struct ct_config *cfg, const struct ct_var *var)
{
    const char *at = (const char *)cfg + var->offset;
    switch (var->type) {
    case CT_VAR_BOOL:
        return *(const bool *)(const void *)at;
    case CT_VAR_ENUM:
        return *(const int *)(const void *)at;
    case CT_VAR_STR:
        return 0;
    default:
        return *(const int64_t *)(const void *)at;
    }
}

static void show(const struct ct_config *cfg, int i, int64_t *number, char *text, size_t cap)
{
    *number = number_of(cfg, ct_front_var(i));
    ct_config_format(cfg, i, text, cap);
}

void ct_front_var_value(int i, int64_t *number, char *text, size_t cap)
{
    const struct ct_log silent = {.level = CT_LOG_NONE};
    struct ct_config    cfg = {0};
    if (ct_front_is_running()) {
        show(&ct_api_process()->cfg, i, number, text, cap);
        return;
    }
    (void)ct_config_load(&cfg, &silent); /* what is wrong is for ctran_init to say */
    show(&cfg, i, number, text, cap);
    ct_config_fini(&cfg);
}
