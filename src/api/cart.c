/* SPDX-License-Identifier: BSD-3-Clause */
/* Cartesian topologies: the calls on grids. */
#define CT_FOLDER "api"
#include <inttypes.h>
#include <stdlib.h>

#include "api/api.h"

int ctran_dims_create(int nnodes, int ndims, int dims[])
{
    static const char  call[] = "ctran_dims_create";
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    struct ct_comm *self = ct_comm_self(p);
    if (nnodes < 1 || ndims < 0 || (ndims > 0 && dims == NULL)) {
        return ct_api_raise(self, CTRAN_ERR_ARG, call, "nnodes is %d, ndims %d, dims %p", nnodes,
                            ndims, (void *)dims);
    }
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 0) {
            return ct_api_raise(self, CTRAN_ERR_DIMS, call,
                                "dims[%d] is %d, must be 0 (to be chosen) or more", i, dims[i]);
        }
    }
    if (ndims > 0 && !ct_vtopo_dims(nnodes, ndims, dims)) {
        return ct_api_raise(self, CTRAN_ERR_DIMS, call,
                            "the dimensions that are given do not divide %d nodes", nnodes);
    }
    return CTRAN_SUCCESS;
}

/* The number of ranks of the grid, at least 1; or the error is raised. */
static int check_grid(struct ct_comm *comm, const char *call, int ndims, const int *dims,
                      const int *periods)
{
    int64_t n = 1;
    if (ndims < 0 || (ndims > 0 && (dims == NULL || periods == NULL))) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call, "ndims is %d, dims %p, periods %p", ndims,
                            (const void *)dims, (const void *)periods);
    }
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 1) {
            return ct_api_raise(comm, CTRAN_ERR_DIMS, call, "dims[%d] is %d, must be at least 1", i,
                                dims[i]);
        }
        n = n <= comm->run.n ? n * dims[i] : n;
    }
    if (n > comm->run.n) {
        return ct_api_raise(comm, CTRAN_ERR_DIMS, call,
                            "the grid has more places than the communicator's %" PRIu32 " ranks",
                            comm->run.n);
    }
    return CTRAN_SUCCESS;
}

int ctran_cart_create(ctran_comm_t comm_old, int ndims, const int dims[], const int periods[],
                      int reorder, ctran_comm_t *comm_cart)
{
    static const char call[] = "ctran_cart_create";
    struct ct_comm   *comm, *made;
    int               rc = ct_check_intra(call, comm_old, &comm);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(comm, call, comm_cart, "comm_cart");
    }
    if (rc == CTRAN_SUCCESS) {
        *comm_cart = CTRAN_COMM_NULL; /* also what a grid that does not fit leaves */
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_grid(comm, call, ndims, dims, periods);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_api_meeting m;
    ct_api_meet(&m, call, comm);
    rc = ct_comm_cart(comm, ndims, dims, periods, reorder != 0, &made);
    ct_api_met(&m, rc);
    return ct_api_give_comm(comm, rc, made, call, comm_cart);
}

int ctran_cart_map(ctran_comm_t handle, int ndims, const int dims[], const int periods[],
                   int *newrank)
{
    static const char call[] = "ctran_cart_map";
    struct ct_comm   *comm;
    int               rc = ct_check_intra(call, handle, &comm);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(comm, call, newrank, "newrank");
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_grid(comm, call, ndims, dims, periods);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_api_meeting m;
    ct_api_meet(&m, call, comm);
    rc = ct_comm_cart_map(comm, false, ndims, dims, periods, newrank);
    ct_api_met(&m, rc);
    return rc == CTRAN_SUCCESS ? rc
                               : ct_api_raise(comm, rc, call, "for a grid of %d dimensions", ndims);
}

/* ---- questions ------------------------------------------------------------------------------- */

int ctran_topo_test(ctran_comm_t handle, int *status)
{
    struct ct_comm *comm;
    int             rc = ct_check_comm_for("ctran_topo_test", handle, &comm, status, "status");
    if (rc == CTRAN_SUCCESS) {
        *status = comm->topo != NULL ? comm->topo->kind : CTRAN_UNDEFINED;
    }
    return rc;
}

/* A grid, and where a result goes: `out`, the argument `name`. */
static int check_cart(const char *call, ctran_comm_t handle, struct ct_comm **comm,
                      const struct ct_vtopo_cart **cart, const void *out, const char *name)
{
    int rc = ct_check_topo(call, handle, CTRAN_CART, comm);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    *cart = &(*comm)->topo->cart;
    return ct_check_out(*comm, call, out, name);
}

/* A grid, and room for one number a dimension. */
static int check_room(const char *call, ctran_comm_t handle, struct ct_comm **comm,
                      const struct ct_vtopo_cart **cart, int maxdims, const int *out,
                      const char *name)
{
    static const int none = 0;
    int              rc = check_cart(call, handle, comm, cart, maxdims > 0 ? out : &none, name);
    if (rc != CTRAN_SUCCESS || maxdims >= (*cart)->ndims) {
        return rc;
    }
    return ct_api_raise(*comm, CTRAN_ERR_ARG, call, "maxdims is %d, the grid has %d dimensions",
                        maxdims, (*cart)->ndims);
}

int ctran_cartdim_get(ctran_comm_t handle, int *ndims)
{
    struct ct_comm             *comm;
    const struct ct_vtopo_cart *cart;
    int rc = check_cart("ctran_cartdim_get", handle, &comm, &cart, ndims, "ndims");
    if (rc == CTRAN_SUCCESS) {
        *ndims = cart->ndims;
    }
    return rc;
}

int ctran_cart_get(ctran_comm_t handle, int maxdims, int dims[], int periods[], int coords[])
{
    static const char           call[] = "ctran_cart_get";
    struct ct_comm             *comm;
    const struct ct_vtopo_cart *cart;
    int                         rc = check_room(call, handle, &comm, &cart, maxdims, dims, "dims");
    if (rc == CTRAN_SUCCESS && cart->ndims > 0) {
        rc = ct_check_out(comm, call, periods, "periods");
    }
    if (rc == CTRAN_SUCCESS && cart->ndims > 0) {
        rc = ct_check_out(comm, call, coords, "coords");
    }
    for (int i = 0; rc == CTRAN_SUCCESS && i < cart->ndims; i++) {
        dims[i] = cart->dims[i];
        periods[i] = cart->periods[i];
        coords[i] = cart->coords[i];
    }
    return rc;
}

int ctran_cart_rank(ctran_comm_t handle, const int coords[], int *rank)
{
    static const char           call[] = "ctran_cart_rank";
    struct ct_comm             *comm;
    const struct ct_vtopo_cart *cart;
    int                         rc = check_cart(call, handle, &comm, &cart, rank, "rank");
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (cart->ndims > 0 && coords == NULL) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call, "coords is NULL");
    }
    for (int i = 0; i < cart->ndims; i++) {
        if (!cart->periods[i] && (coords[i] < 0 || coords[i] >= cart->dims[i])) {
            return ct_api_raise(comm, CTRAN_ERR_ARG, call,
                                "coords[%d] is %d, must be 0 to %d in a dimension that is not "
                                "periodic",
                                i, coords[i], cart->dims[i] - 1);
        }
    }
    *rank = ct_vtopo_cart_rank(cart, coords);
    return CTRAN_SUCCESS;
}

int ctran_cart_coords(ctran_comm_t handle, int rank, int maxdims, int coords[])
{
    static const char           call[] = "ctran_cart_coords";
    struct ct_comm             *comm;
    const struct ct_vtopo_cart *cart;
    int rc = check_room(call, handle, &comm, &cart, maxdims, coords, "coords");
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (rank < 0 || (uint32_t)rank >= comm->run.n) {
        return ct_api_raise(comm, CTRAN_ERR_RANK, call, "rank is %d, must be 0 to %" PRIu32, rank,
                            comm->run.n - 1);
    }
    ct_vtopo_cart_coords(cart, rank, coords);
    return CTRAN_SUCCESS;
}

int ctran_cart_shift(ctran_comm_t handle, int direction, int disp, int *rank_source, int *rank_dest)
{
    static const char           call[] = "ctran_cart_shift";
    struct ct_comm             *comm;
    const struct ct_vtopo_cart *cart;
    int rc = check_cart(call, handle, &comm, &cart, rank_source, "rank_source");
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(comm, call, rank_dest, "rank_dest");
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (direction < 0 || direction >= cart->ndims) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call,
                            "direction is %d, the grid has %d dimensions, counted from 0",
                            direction, cart->ndims);
    }
    *rank_source = ct_vtopo_cart_at(cart, direction, -(int64_t)disp);
    *rank_dest = ct_vtopo_cart_at(cart, direction, disp);
    return CTRAN_SUCCESS;
}

int ctran_cart_sub(ctran_comm_t handle, const int remain_dims[], ctran_comm_t *newcomm)
{
    static const char           call[] = "ctran_cart_sub";
    struct ct_comm             *comm, *made;
    const struct ct_vtopo_cart *cart;
    int                         rc = check_cart(call, handle, &comm, &cart, newcomm, "newcomm");
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (cart->ndims > 0 && remain_dims == NULL) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call, "remain_dims is NULL");
    }
    struct ct_api_meeting m;
    ct_api_meet(&m, call, comm);
    rc = ct_comm_cart_sub(comm, remain_dims, &made);
    ct_api_met(&m, rc);
    return ct_api_give_comm(comm, rc, made, call, newcomm);
}
