/* SPDX-License-Identifier: BSD-3-Clause */
/* Versions, names, and the clock. */
#define CT_FOLDER "api"
#include "api/api.h"

int ctran_get_version(int *version, int *subversion)
{
    if (version == NULL || subversion == NULL) {
        return ct_api_raise_anytime(CTRAN_ERR_ARG, "ctran_get_version", "%s is NULL",
                                    version == NULL ? "version" : "subversion");
    }
    *version = CTRAN_VERSION;
    *subversion = CTRAN_SUBVERSION;
    return CTRAN_SUCCESS;
}

int ctran_get_library_version(char *version, int *resultlen)
{
    if (version == NULL || resultlen == NULL) {
        return ct_api_raise_anytime(CTRAN_ERR_ARG, "ctran_get_library_version", "%s is NULL",
                                    version == NULL ? "version" : "resultlen");
    }
    *resultlen = snprintf(version, CTRAN_MAX_LIBRARY_VERSION_STRING, "ctran %s (build %s, %s)",
                          ct_version_string(), ct_version_digest(), ct_version_build());
    return CTRAN_SUCCESS;
}

int ctran_get_processor_name(char *name, int *resultlen)
{
    static const char  call[] = "ctran_get_processor_name";
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    if (name == NULL || resultlen == NULL) {
        return ct_check_out(ct_comm_self(p), call, NULL, name == NULL ? "name" : "resultlen");
    }
    int len = snprintf(name, CTRAN_MAX_PROCESSOR_NAME, "%s", p->job->host);
    *resultlen = len < CTRAN_MAX_PROCESSOR_NAME ? len : CTRAN_MAX_PROCESSOR_NAME - 1;
    return CTRAN_SUCCESS;
}

/* What split_type can split by here. */
static int fill_hw_info(struct ct_process *p, struct ct_info *info)
{
    struct ct_hw_place place;
    int                rc = CTRAN_SUCCESS;
    ct_hw_place(p, &place);
    for (int i = 0; i < CT_HW_KINDS && rc == CTRAN_SUCCESS; i++) {
        if (ct_hw_exists(p, (enum ct_hw)i)) {
            rc = ct_info_set(&p->infos, info, ct_hw_name((enum ct_hw)i),
                             place.at[i] >= 0 ? "true" : "false");
        }
    }
    return rc;
}

int ctran_get_hw_resource_info(ctran_info_t *hw_info)
{
    static const char  call[] = "ctran_get_hw_resource_info";
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    if (hw_info == NULL) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_ARG, call, "hw_info is NULL");
    }
    struct ct_info *info = ct_info_make(&p->infos);
    if (info == NULL || fill_hw_info(p, info) != CTRAN_SUCCESS) {
        if (info != NULL) {
            ct_info_free(&p->infos, info);
        }
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_NO_MEM, call, "for an info object");
    }
    *hw_info = info;
    return CTRAN_SUCCESS;
}

int ctran_pcontrol(int level, ...)
{
    (void)level;
    return CTRAN_SUCCESS;
}

double ctran_wtime(void)
{
    return (double)ct_clock_ns() * 1e-9;
}

double ctran_wtick(void)
{
    struct timespec ts;
    clock_getres(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}
