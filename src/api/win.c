/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows: how they are made and freed, and what can be asked of them. */
#define CT_FOLDER "api"
#include <limits.h>

#include "api/win.h"

int ct_check_win_slowly(const char *call, ctran_win_t handle)
{
    struct ct_process *p = ct_api_enter(call);
    return p == NULL ? CTRAN_ERR_OTHER
                     : ct_api_raise(ct_comm_self(p), CTRAN_ERR_WIN, call, "%s",
                                    handle == CTRAN_WIN_NULL ? "it is CTRAN_WIN_NULL"
                                                             : "it was freed, or never was one");
}

/* ---- making ---------------------------------------------------------------------------------- */

static int check_plan(struct ct_comm *comm, const char *call, const struct ct_win_plan *plan,
                      ctran_aint_t disp_unit)
{
    if (plan->size_bytes < 0) {
        return ct_api_raise(comm, CTRAN_ERR_SIZE, call, "size is %td, must be >= 0",
                            plan->size_bytes);
    }
    if (disp_unit < 1 || disp_unit > INT_MAX) {
        return ct_api_raise(comm, CTRAN_ERR_DISP, call,
                            "the displacement unit is %td, must be from 1 to %d", disp_unit,
                            INT_MAX);
    }
    if (plan->flavor == CTRAN_WIN_FLAVOR_CREATE && plan->base == NULL && plan->size_bytes > 0) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call, "base is NULL, size is %td",
                            plan->size_bytes);
    }
    return CTRAN_SUCCESS;
}

static const char *why_not(int rc)
{
    return rc == CTRAN_ERR_RMA_SHARED
               ? "a rank cannot map the memory of another one: they have to be of one host, where "
                 "CTRAN_SHM_SINGLE_COPY and CTRAN_SHM_ALLOC allow it; see ctran_comm_split_type"
           : rc == CTRAN_ERR_UNSUPPORTED_OPERATION
               ? "a rank cannot have what info asks for, memory of a GPU or streams: it says why"
           : rc == CTRAN_ERR_OTHER ? "another rank could not make its part, and says why"
                                   : "the window could not be made";
}

/* The window, or an error of comm's. Where baseptr is not NULL the address goes there. */
static int make(const char *call, ctran_comm_t handle, struct ct_win_plan *plan,
                ctran_aint_t disp_unit, ctran_info_t info, void *baseptr, ctran_win_t *out)
{
    struct ct_comm       *comm;
    struct ct_win        *win;
    struct ct_api_meeting m;
    int                   rc = ct_check_intra(call, handle, &comm);
    rc = rc == CTRAN_SUCCESS ? ct_check_out(comm, call, out, "win") : rc;
    rc = rc == CTRAN_SUCCESS ? check_plan(comm, call, plan, disp_unit) : rc;
    rc = rc == CTRAN_SUCCESS ? ct_check_info(comm, call, info, &plan->info) : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    plan->disp_unit = (int)disp_unit;
    plan->align_bytes = ct_api_alignment_of(comm->p, plan->info);
    ct_api_meet(&m, call, comm);
    rc = ct_win_make(comm, plan, &win);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_win_open_streams(win); /* alike on all ranks */
        if (rc != CTRAN_SUCCESS) {
            (void)ct_win_free(win);
        }
    }
    ct_api_met(&m, rc);
    if (rc != CTRAN_SUCCESS) {
        return ct_api_raise(comm, rc, call, "%s", why_not(rc));
    }
    if (baseptr != NULL) {
        memcpy(baseptr, &win->base, sizeof win->base);
    }
    *out = win;
    return win->needs_thread ? ct_api_pass(comm, ct_api_need_thread(comm->p), call) : CTRAN_SUCCESS;
}

int ctran_win_create(void *base, ctran_aint_t size, ctran_aint_t disp_unit, ctran_info_t info,
                     ctran_comm_t comm, ctran_win_t *win)
{
    struct ct_win_plan plan = {.flavor = CTRAN_WIN_FLAVOR_CREATE, .base = base, .size_bytes = size};
    return make("ctran_win_create", comm, &plan, disp_unit, info, NULL, win);
}

/* For the two that give memory. */
static int allocate(const char *call, int flavor, ctran_aint_t size, ctran_aint_t disp_unit,
                    ctran_info_t info, ctran_comm_t comm, void *baseptr, ctran_win_t *win)
{
    struct ct_win_plan plan = {.flavor = flavor, .size_bytes = size};
    struct ct_comm    *c;
    int                rc = ct_check_comm_for(call, comm, &c, baseptr, "baseptr");
    return rc == CTRAN_SUCCESS ? make(call, comm, &plan, disp_unit, info, baseptr, win) : rc;
}

int ctran_win_allocate(ctran_aint_t size, ctran_aint_t disp_unit, ctran_info_t info,
                       ctran_comm_t comm, void *baseptr, ctran_win_t *win)
{
    return allocate("ctran_win_allocate", CTRAN_WIN_FLAVOR_ALLOCATE, size, disp_unit, info, comm,
                    baseptr, win);
}

int ctran_win_allocate_shared(ctran_aint_t size, ctran_aint_t disp_unit, ctran_info_t info,
                              ctran_comm_t comm, void *baseptr, ctran_win_t *win)
{
    return allocate("ctran_win_allocate_shared", CTRAN_WIN_FLAVOR_SHARED, size, disp_unit, info,
                    comm, baseptr, win);
}

int ctran_win_create_dynamic(ctran_info_t info, ctran_comm_t comm, ctran_win_t *win)
{
    struct ct_win_plan plan = {.flavor = CTRAN_WIN_FLAVOR_DYNAMIC};
    return make("ctran_win_create_dynamic", comm, &plan, 1, info, NULL, win);
}

int ctran_win_free(ctran_win_t *handle)
{
    static const char     call[] = "ctran_win_free";
    struct ct_win        *win;
    struct ct_api_meeting m;
    int                   rc = ct_check_win(call, handle != NULL ? *handle : CTRAN_WIN_NULL, &win);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (win->access > CT_ACCESS_FENCE || win->exposed) {
        return ct_win_wrong_epoch(win, call, "an epoch is open: end it before the window");
    }
    rc = ct_attr_delete_all(&win->attrs);
    if (rc != CTRAN_SUCCESS) {
        return ct_api_pass(win->comm, rc, call);
    }
    struct ct_comm *comm = win->comm;
    ct_comm_hold(comm);
    ct_api_meet(&m, call, comm);
    ct_win_settle_streams(win);
    rc = ct_win_free(win);
    ct_api_met(&m, rc);
    *handle = CTRAN_WIN_NULL;
    rc = ct_api_pass(comm, rc, call);
    ct_comm_drop(comm);
    return rc;
}

/* ---- questions ------------------------------------------------------------------------------- */

/* The rank that CTRAN_PROC_NULL stands for: the first with memory, 0 where none has. */
static uint32_t first_with_memory(const struct ct_win *win)
{
    for (uint32_t r = 0; r < win->n; r++) {
        if (win->peers[r].size_bytes > 0) {
            return r;
        }
    }
    return 0;
}

int ctran_win_shared_query(ctran_win_t handle, int rank, ctran_aint_t *size,
                           ctran_aint_t *disp_unit, void *baseptr)
{
    static const char call[] = "ctran_win_shared_query";
    struct ct_win    *win;
    int               rc = ct_check_win(call, handle, &win);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (win->flavor == CTRAN_WIN_FLAVOR_DYNAMIC) {
        return ct_api_raise(win->comm, CTRAN_ERR_RMA_FLAVOR, call, "the window is dynamic");
    }
    if (size == NULL || disp_unit == NULL || baseptr == NULL) {
        return ct_api_raise(win->comm, CTRAN_ERR_ARG, call, "an output is NULL");
    }
    rc = rank != CTRAN_PROC_NULL ? ct_check_target(win, call, rank) : CTRAN_SUCCESS;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const struct ct_win_peer *peer =
        &win->peers[rank != CTRAN_PROC_NULL ? (uint32_t)rank : first_with_memory(win)];
    *size = peer->maps_here ? (ctran_aint_t)peer->size_bytes : 0;
    *disp_unit = peer->disp_unit;
    memcpy(baseptr, &peer->at, sizeof peer->at);
    return CTRAN_SUCCESS;
}

static int check_dynamic(const char *call, ctran_win_t handle, struct ct_win **win)
{
    int rc = ct_check_win(call, handle, win);
    if (rc == CTRAN_SUCCESS && (*win)->flavor != CTRAN_WIN_FLAVOR_DYNAMIC) {
        rc = ct_api_raise((*win)->comm, CTRAN_ERR_RMA_FLAVOR, call,
                          "the window is none of ctran_win_create_dynamic");
    }
    return rc;
}

int ctran_win_attach(ctran_win_t handle, void *base, ctran_aint_t size)
{
    static const char call[] = "ctran_win_attach";
    struct ct_win    *win;
    int               rc = check_dynamic(call, handle, &win);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (size < 0) {
        return ct_api_raise(win->comm, CTRAN_ERR_SIZE, call, "size is %td, must be >= 0", size);
    }
    rc = ct_win_attach(win, base, (size_t)size);
    return rc == CTRAN_SUCCESS ? rc
                               : ct_api_raise(win->comm, rc, call,
                                              "for %td bytes at %p: a part of them is attached, or "
                                              "they are no memory",
                                              size, base);
}

int ctran_win_detach(ctran_win_t handle, const void *base)
{
    static const char call[] = "ctran_win_detach";
    struct ct_win    *win;
    int               rc = check_dynamic(call, handle, &win);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_win_detach(win, base);
    return rc == CTRAN_SUCCESS
               ? rc
               : ct_api_raise(win->comm, rc, call, "no attached memory begins at %p", base);
}

int ctran_win_get_group(ctran_win_t handle, ctran_group_t *group)
{
    static const char call[] = "ctran_win_get_group";
    struct ct_win    *win;
    int               rc = ct_check_win_for(call, handle, &win, group, "group");
    if (rc == CTRAN_SUCCESS) {
        *group = ct_group_give(ct_group_hold(win->comm->group));
    }
    return rc;
}

int ctran_win_set_info(ctran_win_t handle, ctran_info_t info_handle)
{
    static const char call[] = "ctran_win_set_info";
    struct ct_win    *win;
    struct ct_info   *info;
    int               rc = ct_check_win(call, handle, &win);
    rc = rc == CTRAN_SUCCESS ? ct_check_info(win->comm, call, info_handle, &info) : rc;
    if (rc == CTRAN_SUCCESS) {
        ct_win_hints_take(win, info);
    }
    return rc;
}

int ctran_win_get_info(ctran_win_t handle, ctran_info_t *info_used)
{
    static const char call[] = "ctran_win_get_info";
    struct ct_win    *win;
    int               rc = ct_check_win_for(call, handle, &win, info_used, "info_used");
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_info *made = ct_win_hints_tell(win);
    if (made == NULL) {
        return ct_api_raise(win->comm, CTRAN_ERR_NO_MEM, call, "for an info object");
    }
    *info_used = made;
    return CTRAN_SUCCESS;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The window's communicator is the library's own: its name is the window's. */
int ctran_win_set_name(ctran_win_t handle, const char *win_name)
{
    static const char call[] = "ctran_win_set_name";
    struct ct_win    *win;
    int               rc = ct_check_win_for(call, handle, &win, win_name, "the name");
    if (rc == CTRAN_SUCCESS) {
        ct_comm_set_name(win->comm, win_name);
    }
    return rc;
}

int ctran_win_get_name(ctran_win_t handle, char *win_name, int *resultlen)
{
    static const char  call[] = "ctran_win_get_name";
    struct ct_process *p = ct_api_enter(call);
    struct ct_win     *win;
    int                rc = CTRAN_SUCCESS;
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    if (win_name == NULL || resultlen == NULL) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_ARG, call, "an output is NULL");
    }
    if (handle == CTRAN_WIN_NULL) {
        strcpy(win_name, "CTRAN_WIN_NULL");
    } else {
        rc = ct_check_win(call, handle, &win);
        if (rc == CTRAN_SUCCESS) {
            ct_comm_get_name(win->comm, win_name);
        }
    }
    if (rc == CTRAN_SUCCESS) {
        *resultlen = (int)strlen(win_name);
    }
    return rc;
}
