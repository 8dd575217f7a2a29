/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects. All but those that need the job are possible at any time. */
#define CT_FOLDER "api"
#include "api/api.h"

static struct ct_infos *infos(void)
{
    return &ct_api_process()->infos;
}

static const char *why_not(ctran_info_t handle)
{
    if (handle == CTRAN_INFO_NULL) {
        return "it is CTRAN_INFO_NULL";
    }
    return handle == CTRAN_INFO_ENV ? "CTRAN_INFO_ENV exists from ctran_init to ctran_finalize"
                                    : "it was freed, or never was one";
}

static int check(const char *call, ctran_info_t handle, struct ct_info **info)
{
    *info = ct_info_of(infos(), handle);
    return *info != NULL ? CTRAN_SUCCESS
                         : ct_api_raise_anytime(CTRAN_ERR_INFO, call, "%s", why_not(handle));
}

/* Like check, for an object that is to be changed. */
static int check_own(const char *call, ctran_info_t handle, struct ct_info **info)
{
    return handle == CTRAN_INFO_ENV
               ? ct_api_raise_anytime(CTRAN_ERR_INFO, call,
                                      "CTRAN_INFO_ENV cannot be changed or freed")
               : check(call, handle, info);
}

static int check_pointer(const char *call, const void *pointer, const char *name)
{
    return pointer != NULL ? CTRAN_SUCCESS
                           : ct_api_raise_anytime(CTRAN_ERR_ARG, call, "%s is NULL", name);
}

int ct_check_info(struct ct_comm *comm, const char *call, ctran_info_t handle,
                  struct ct_info **info)
{
    *info = NULL;
    if (handle == CTRAN_INFO_NULL) {
        return CTRAN_SUCCESS;
    }
    *info = ct_info_of(&comm->p->infos, handle);
    return *info != NULL ? CTRAN_SUCCESS
                         : ct_api_raise(comm, CTRAN_ERR_INFO, call, "%s", why_not(handle));
}

/* A new object becomes the user's. */
static int give(const char *call, struct ct_info *made, ctran_info_t *info)
{
    if (made == NULL) {
        return ct_api_raise_anytime(CTRAN_ERR_NO_MEM, call, "for an info object");
    }
    *info = made;
    return CTRAN_SUCCESS;
}

int ctran_info_create(ctran_info_t *info)
{
    static const char call[] = "ctran_info_create";
    int               rc = check_pointer(call, info, "info");
    return rc == CTRAN_SUCCESS ? give(call, ct_info_make(infos()), info) : rc;
}

int ctran_info_dup(ctran_info_t handle, ctran_info_t *newinfo)
{
    static const char call[] = "ctran_info_dup";
    struct ct_info   *info;
    int               rc = check(call, handle, &info);
    if (rc == CTRAN_SUCCESS) {
        rc = check_pointer(call, newinfo, "newinfo");
    }
    return rc == CTRAN_SUCCESS ? give(call, ct_info_dup(infos(), info), newinfo) : rc;
}

int ctran_info_free(ctran_info_t *handle)
{
    static const char call[] = "ctran_info_free";
    struct ct_info   *info;
    int               rc = check_own(call, handle != NULL ? *handle : CTRAN_INFO_NULL, &info);
    if (rc == CTRAN_SUCCESS) {
        ct_info_free(infos(), info);
        *handle = CTRAN_INFO_NULL;
    }
    return rc;
}

int ctran_info_set(ctran_info_t handle, const char *key, const char *value)
{
    static const char call[] = "ctran_info_set";
    struct ct_info   *info;
    int               rc = check_own(call, handle, &info);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_info_set(infos(), info, key, value);
    switch (rc) {
    case CTRAN_ERR_INFO_KEY:
        return ct_api_raise_anytime(rc, call, "the key is NULL, empty, or longer than %d bytes",
                                    CTRAN_MAX_INFO_KEY - 1);
    case CTRAN_ERR_INFO_VALUE:
        return ct_api_raise_anytime(rc, call, "the value is NULL or longer than %d bytes",
                                    CTRAN_MAX_INFO_VAL - 1);
    case CTRAN_ERR_NO_MEM:
        return ct_api_raise_anytime(rc, call, "for a value");
    default:
        return rc;
    }
}

/* An object that is asked, and a key. */
static int check_key(const char *call, ctran_info_t handle, const char *key, struct ct_info **info)
{
    int rc = check(call, handle, info);
    if (rc == CTRAN_SUCCESS && key == NULL) {
        rc = ct_api_raise_anytime(CTRAN_ERR_INFO_KEY, call, "the key is NULL");
    }
    return rc;
}

int ctran_info_get_string(ctran_info_t handle, const char *key, int *buflen, char *value, int *flag)
{
    static const char call[] = "ctran_info_get_string";
    struct ct_info   *info;
    int               rc = check_key(call, handle, key, &info);
    if (rc == CTRAN_SUCCESS && (buflen == NULL || *buflen < 0 || (*buflen > 0 && value == NULL))) {
        rc = ct_api_raise_anytime(CTRAN_ERR_ARG, call, "%s",
                                  buflen == NULL ? "buflen is NULL"
                                  : *buflen < 0  ? "*buflen is negative"
                                                 : "value is NULL and *buflen is not 0");
    }
    rc = rc == CTRAN_SUCCESS ? check_pointer(call, flag, "flag") : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    int len = ct_info_get(infos(), info, key, value, (size_t)*buflen);
    *flag = len >= 0;
    *buflen = len >= 0 ? len + 1 : *buflen;
    return CTRAN_SUCCESS;
}

int ctran_info_get(ctran_info_t handle, const char *key, int valuelen, char *value, int *flag)
{
    static const char call[] = "ctran_info_get";
    struct ct_info   *info;
    int               rc = check_key(call, handle, key, &info);
    if (rc == CTRAN_SUCCESS && (valuelen < 0 || value == NULL)) {
        rc = ct_api_raise_anytime(CTRAN_ERR_ARG, call, "%s",
                                  value == NULL ? "value is NULL" : "valuelen is negative");
    }
    rc = rc == CTRAN_SUCCESS ? check_pointer(call, flag, "flag") : rc;
    if (rc == CTRAN_SUCCESS) {
        *flag = ct_info_get(infos(), info, key, value, (size_t)valuelen + 1) >= 0;
    }
    return rc;
}

int ctran_info_get_valuelen(ctran_info_t handle, const char *key, int *valuelen, int *flag)
{
    static const char call[] = "ctran_info_get_valuelen";
    struct ct_info   *info;
    int               rc = check_key(call, handle, key, &info);
    rc = rc == CTRAN_SUCCESS ? check_pointer(call, valuelen, "valuelen") : rc;
    rc = rc == CTRAN_SUCCESS ? check_pointer(call, flag, "flag") : rc;
    if (rc == CTRAN_SUCCESS) {
        const int len = ct_info_get(infos(), info, key, NULL, 0);
        *flag = len >= 0;
        *valuelen = len >= 0 ? len : *valuelen;
    }
    return rc;
}

int ctran_info_delete(ctran_info_t handle, const char *key)
{
    static const char call[] = "ctran_info_delete";
    struct ct_info   *info;
    int               rc = check_own(call, handle, &info);
    if (rc == CTRAN_SUCCESS) {
        rc = check_key(call, handle, key, &info);
    }
    if (rc == CTRAN_SUCCESS && ct_info_delete(infos(), info, key) != CTRAN_SUCCESS) {
        rc = ct_api_raise_anytime(CTRAN_ERR_INFO_NOKEY, call, "it is \"%.64s\"", key);
    }
    return rc;
}

int ctran_info_get_nkeys(ctran_info_t handle, int *nkeys)
{
    static const char call[] = "ctran_info_get_nkeys";
    struct ct_info   *info;
    int               rc = check(call, handle, &info);
    rc = rc == CTRAN_SUCCESS ? check_pointer(call, nkeys, "nkeys") : rc;
    if (rc == CTRAN_SUCCESS) {
        *nkeys = ct_info_count(infos(), info);
    }
    return rc;
}

int ctran_info_get_nthkey(ctran_info_t handle, int n, char *key)
{
    static const char call[] = "ctran_info_get_nthkey";
    struct ct_info   *info;
    int               rc = check(call, handle, &info);
    if (rc == CTRAN_SUCCESS) {
        rc = check_pointer(call, key, "key");
    }
    if (rc == CTRAN_SUCCESS && ct_info_key(infos(), info, n, key) != CTRAN_SUCCESS) {
        rc = ct_api_raise_anytime(CTRAN_ERR_ARG, call, "n is %d, there are %d keys", n,
                                  ct_info_count(infos(), info));
    }
    return rc;
}
