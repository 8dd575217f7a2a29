/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on memory of a GPU, on the emulated driver of CUDA; without that driver there is
 * nothing to be found. */
#define CT_FOLDER "test"
#include <dlfcn.h>

#include "cases.h"

enum { BYTES = 3 << 20, SOME = 5000 };

static struct ct_area device_area(const struct world *w, void *at, size_t len_bytes)
{
    struct ct_area area = {.base = at, .len_bytes = len_bytes};
    ct_area_set_memory(&area, &w->p.memory);
    return area;
}

static void write_device(struct world *w, void *at, const void *from, size_t len_bytes)
{
    const struct ct_area area = device_area(w, at, len_bytes);
    CHECK(w, ct_area_scatter_all(&area, &(size_t){0}, from, len_bytes));
}

static void read_device(struct world *w, const void *at, void *to, size_t len_bytes)
{
    const struct ct_area area = device_area(w, (void *)at, len_bytes);
    CHECK(w, ct_area_gather_all(&area, &(size_t){0}, to, len_bytes));
}

static unsigned char byte_of(uint32_t rank, size_t at)
{
    return (unsigned char)(at * 7 + at / 4096 + rank * 31);
}

static void expect_bytes(struct world *w, uint32_t rank, const unsigned char *bytes, size_t at,
                         size_t len_bytes)
{
    for (size_t i = 0; i < len_bytes; i++) {
        EQUAL(w, bytes[i], byte_of(rank, at + i));
    }
}

static int get_to_device(struct world *w, struct ct_ep_rkey *rkey, uint64_t offset, void *to,
                         size_t len_bytes)
{
    struct ct_net_comp   comp = {.pending = 0};
    const struct ct_area area = device_area(w, to, len_bytes);
    struct ct_ep_rma     op = {.net = {.op = CT_NET_OP_GET,
                                       .offset = offset,
                                       .comp = &comp,
                                       .area = &area,
                                       .len_bytes = len_bytes},
                               .rkey = rkey};
    do_start(w, &op);
    return world_wait(w, &comp);
}

/* A put behind a fence does not overtake a get that a copy engine carries out. */
static void put_behind_get(struct world *w, struct ct_ep_rkey *rkey, unsigned char *host)
{
    struct ct_net_comp   got = {.pending = 0}, put = {.pending = 0};
    unsigned char        zeros[SOME] = {0};
    const struct ct_area in = {.base = host, .len_bytes = BYTES};
    const struct ct_area out = {.base = zeros, .len_bytes = SOME};
    struct ct_ep_rma     get_op = {.rkey = rkey};
    struct ct_ep_rma put_op = {.net = {.op = CT_NET_OP_PUT,
                                       .offset = BYTES - SOME,
                                       .comp = &put,
                                       .area = &out,
                                       .len_bytes = SOME},
                               .rkey = rkey};
    get_op.net =
        (struct ct_net_rma){.op = CT_NET_OP_GET, .comp = &got, .area = &in, .len_bytes = BYTES};
    do_start(w, &get_op);
    do_fence(w, next_rank(w));
    do_start(w, &put_op);
    EQUAL(w, world_wait(w, &put), CTRAN_SUCCESS);
    EQUAL(w, got.pending, 0);
    EQUAL(w, world_wait(w, &got), CTRAN_SUCCESS);
    expect_bytes(w, next_rank(w), host + SOME, SOME, BYTES - SOME);
}

static void use_next(struct world *w, struct ct_ep_rkey *rkey, void *own, unsigned char *host)
{
    const uint32_t next = next_rank(w);
    uint64_t       word = 5, was = 0;
    EQUAL(w, do_get(w, rkey, 0, host, BYTES), CTRAN_SUCCESS);
    expect_bytes(w, next, host, 0, BYTES);
    EQUAL(w, do_get(w, rkey, 1234567, host, SOME), CTRAN_SUCCESS);
    expect_bytes(w, next, host, 1234567, SOME);
    EQUAL(w, get_to_device(w, rkey, 4321, own, SOME), CTRAN_SUCCESS);
    read_device(w, own, host, SOME);
    expect_bytes(w, next, host, 4321, SOME);
    EQUAL(w, do_get(w, rkey, BYTES - 1, host, 2), CT_REFUSED);
    world_meet(w);
    EQUAL(w, do_put(w, rkey, 0, &word, sizeof word), CTRAN_SUCCESS);
    EQUAL(w, do_atomic(w, rkey, 0, CT_NET_ADD, 8, 7, 0, &was), CTRAN_SUCCESS);
    EQUAL(w, was, 5);
    EQUAL(w, do_get(w, rkey, 0, &word, sizeof word), CTRAN_SUCCESS);
    EQUAL(w, word, 12);
    put_behind_get(w, rkey, host);
}

static void device(struct world *w)
{
    unsigned char *host = malloc(BYTES), packed[CT_EP_MAX_RKEY];
    void          *at = NULL, *own = NULL;
    if (dlopen(CT_EMU_CUDA, RTLD_NOW | RTLD_LOCAL) == NULL) {
        free(host);
        return;
    }
    EQUAL(w, ct_gpu_init(&w->p), CTRAN_SUCCESS);
    EQUAL(w, ct_mem_init(&w->p), CTRAN_SUCCESS);
    EQUAL(w, ct_mem_alloc(&w->p, BYTES, &at), CTRAN_SUCCESS);
    EQUAL(w, ct_mem_alloc(&w->p, SOME, &own), CTRAN_SUCCESS);
    for (size_t i = 0; i < BYTES; i++) {
        host[i] = byte_of(w->me, i);
    }
    write_device(w, at, host, BYTES);
    const struct ct_ep_exposure what = {
        .base = at, .len_bytes = BYTES, .access = ALL_RIGHTS, .peer = CT_EP_ANY_PEER};
    struct ct_ep_region *region;
    ct_domain_enter(&w->p);
    EQUAL(w, ct_ep_expose(&w->p, &what, &region), CTRAN_SUCCESS);
    world_give(w, 0, packed, ct_ep_region_pack(region, packed));
    ct_domain_leave(&w->p);
    world_meet(w);
    struct ct_ep_rkey *rkey = key_open(w, next_rank(w), 0);
    use_next(w, rkey, own, host);
    world_meet(w);
    ct_domain_enter(&w->p);
    ct_ep_withdraw(region);
    ct_domain_leave(&w->p);
    world_meet(w);
    EQUAL(w, do_get(w, rkey, 0, host, SOME), CT_REFUSED);
    key_close(w, rkey);
    world_meet(w);
    EQUAL(w, ct_mem_free(&w->p, at), CTRAN_SUCCESS);
    EQUAL(w, ct_mem_free(&w->p, own), CTRAN_SUCCESS);
    free(host);
    ct_mem_fini(&w->p);
    ct_gpu_fini(&w->p);
}

const struct world_case cases_device[] = {
    {"device", 2, 0, device},
    {NULL, 0, 0, NULL},
};
