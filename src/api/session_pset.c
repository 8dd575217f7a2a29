/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process sets: the names under which a session knows groups of processes. There are MPI's two.
 */
#define CT_FOLDER "api"
#include <inttypes.h>
#include <strings.h>

#include "api/api.h"

static const char *const names[] = {"mpi://WORLD", "mpi://SELF"};
enum { WORLD = CT_PSET_WORLD, SELF = CT_PSET_SELF, PSETS = CT_PSETS };

/* Names of the scheme mpi:// are URIs (MPI-4.1 sec. 11.3.2). Scheme and authority may be in upper
 * and lower case (RFC 3986 sec. 3.1, 3.2.2); programs for other libraries write mpi://world. */
int ct_api_find_pset(const char *name)
{
    int i = 0;
    while (i < PSETS && strcasecmp(name, names[i]) != 0) {
        i++;
    }
    return i;
}

static int check_info(struct ct_mpi_session *session, const char *call, ctran_info_t handle)
{
    return handle == CTRAN_INFO_NULL || ct_info_of(&ct_api_process()->infos, handle) != NULL
               ? CTRAN_SUCCESS
               : ct_api_raise_by(&session->errhandler, session, CTRAN_ERR_INFO, call,
                                 "the info object was freed, or never was one");
}

/* `out` has to be there, too. */
static int check_name(struct ct_mpi_session *session, const char *call, const char *name,
                      const void *out, int *pset)
{
    if (name == NULL || out == NULL) {
        return ct_api_raise_by(&session->errhandler, session, CTRAN_ERR_ARG, call, "%s is NULL",
                               name == NULL ? "pset_name" : "the result");
    }
    *pset = ct_api_find_pset(name);
    return *pset < PSETS ? CTRAN_SUCCESS
                         : ct_api_raise_by(&session->errhandler, session, CTRAN_ERR_ARG, call,
                                           "there is no process set \"%.100s\"; "
                                           "ctran_session_get_nth_pset has their names",
                                           name);
}

int ctran_session_get_num_psets(ctran_session_t handle, ctran_info_t info, int *npset_names)
{
    static const char      call[] = "ctran_session_get_num_psets";
    struct ct_mpi_session *session;
    int                    rc = ct_check_session(call, handle, &session);
    rc = rc == CTRAN_SUCCESS ? check_info(session, call, info) : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (npset_names == NULL) {
        return ct_api_raise_by(&session->errhandler, session, CTRAN_ERR_ARG, call,
                               "npset_names is NULL");
    }
    *npset_names = PSETS;
    return CTRAN_SUCCESS;
}

int ctran_session_get_nth_pset(ctran_session_t handle, ctran_info_t info, int n, int *pset_len,
                               char *pset_name)
{
    static const char      call[] = "ctran_session_get_nth_pset";
    struct ct_mpi_session *session;
    int                    rc = ct_check_session(call, handle, &session);
    rc = rc == CTRAN_SUCCESS ? check_info(session, call, info) : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (n < 0 || n >= PSETS || pset_len == NULL || (*pset_len > 0 && pset_name == NULL)) {
        return ct_api_raise_by(&session->errhandler, session, CTRAN_ERR_ARG, call,
                               "n is %d of %d sets, pset_len %s, pset_name %s", n, PSETS,
                               pset_len != NULL ? "given" : "NULL",
                               pset_name != NULL ? "given" : "NULL");
    }
    if (*pset_len > 0) {
        snprintf(pset_name, (size_t)*pset_len, "%s", names[n]);
    }
    *pset_len = (int)strlen(names[n]) + 1;
    return CTRAN_SUCCESS;
}

int ctran_session_get_pset_info(ctran_session_t handle, const char *pset_name, ctran_info_t *info)
{
    static const char      call[] = "ctran_session_get_pset_info";
    struct ct_process     *p = ct_api_process();
    struct ct_mpi_session *session;
    int                    pset, rc = ct_check_session(call, handle, &session);
    rc = rc == CTRAN_SUCCESS ? check_name(session, call, pset_name, info, &pset) : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    char size[16];
    snprintf(size, sizeof size, "%" PRIu32, pset == WORLD ? p->job->size : 1);
    struct ct_info *made = ct_info_make(&p->infos);
    if (made == NULL || ct_info_set(&p->infos, made, "mpi_size", size) != CTRAN_SUCCESS) {
        if (made != NULL) {
            ct_info_free(&p->infos, made);
        }
        return ct_api_raise_by(&session->errhandler, session, CTRAN_ERR_NO_MEM, call,
                               "for an info object");
    }
    *info = made;
    return CTRAN_SUCCESS;
}

int ctran_group_from_session_pset(ctran_session_t handle, const char *pset_name,
                                  ctran_group_t *newgroup)
{
    static const char      call[] = "ctran_group_from_session_pset";
    struct ct_process     *p = ct_api_process();
    struct ct_mpi_session *session;
    int                    pset, rc = ct_check_session(call, handle, &session);
    rc = rc == CTRAN_SUCCESS ? check_name(session, call, pset_name, newgroup, &pset) : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_group *group = pset == WORLD ? ct_group_make(p, p->job->size, NULL, p->job->first)
                                           : ct_group_make(p, 1, NULL, ct_job_me(p->job));
    if (group == NULL) {
        return ct_api_raise_by(&session->errhandler, session, CTRAN_ERR_NO_MEM, call,
                               "for a group");
    }
    atomic_store_explicit(&group->session, session->number, memory_order_relaxed);
    *newgroup = ct_group_give(group);
    return CTRAN_SUCCESS;
}
