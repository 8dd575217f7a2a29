/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks' variables; see rankconfig.h. */
#include "config.h"
#include "launcher/place/rankconfig.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/launcher.h"

/* Returns the value of a name in a list of settings, NULL: none. */
static const char *rankconfig_find_setting(char *const *list, const char *name)
{
    size_t len = strlen(name);
    for (; list != NULL && *list != NULL; list++) {
        if (strncmp(*list, name, len) == 0 && (*list)[len] == '=') {
            return *list + len + 1;
        }
    }
    return NULL;
}

/* Takes one setting of --set, NAME=VALUE. */
static void take_set(struct ct_config *cfg, const struct ct_log *log, const char *line, size_t len)
{
    char *setting = strndup(line, len), *eq = setting != NULL ? strchr(setting, '=') : NULL;
    if (eq != NULL) {
        *eq = '\0';
        (void)ct_config_set(cfg, log, setting, eq + 1, CT_ORIGIN_SET);
    }
    free(setting);
}

static void take_list(struct ct_config *cfg, const struct ct_log *log, char *const *list)
{
    const char *set = rankconfig_find_setting(list, CT_ENV_SET);
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        const char *name = ct_config_vars()[i].name, *value = rankconfig_find_setting(list, name);
        if (value != NULL && cfg->origin[i] != CT_ORIGIN_SET) {
            (void)ct_config_set(cfg, log, name, value, CT_ORIGIN_ENV);
        }
    }
    while (set != NULL && *set != '\0') {
        const size_t len = strcspn(set, "\n");
        take_set(cfg, log, set, len);
        set += len + (set[len] == '\n');
    }
}

void ct_rankconfig_load(struct ct_config *cfg, const struct ct_jobdesc *d)
{
    struct ct_log silent;
    ct_log_init(&silent, CT_LOG_NONE, CT_DAEMON_NAME);
    (void)ct_config_load(cfg, &silent);
    take_list(cfg, &silent, d->env);
    take_list(cfg, &silent, d->apps[0].env);
}
