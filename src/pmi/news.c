/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the launcher tells while the job runs, on its way from the thread that hears it to those
 * that act on it: the former only notes it here and wakes the process. A death is written before it
 * is counted, so that who reads the count needs no lock.
 *
 * Used by pmix.c, which hears, and by ep, which acts.
 */
#include <stdlib.h>

#include "pmi/pmi.h"

int ct_news_init(struct ct_news *news, uint32_t job_size)
{
    news->dead = calloc(job_size, sizeof *news->dead);
    if (news->dead == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    news->cap = job_size;
    ct_lock_init(&news->lock, true); /* there is a second thread, whatever the program does */
    /* Release: the other thread hears of it through libpmix, whose locks nobody vouches for. Pairs
     * with is_on. */
    atomic_store_explicit(&news->on, true, memory_order_release);
    return CTRAN_SUCCESS;
}

void ct_news_fini(struct ct_news *news)
{
    if (news->on) {
        ct_lock_fini(&news->lock);
        free(news->dead);
        news->on = false;
    }
}

struct ct_wake *ct_news_set_wake(struct ct_news *news, struct ct_wake *wake)
{
    ct_lock_acquire(&news->lock);
    struct ct_wake *before = news->wake;
    news->wake = wake;
    ct_lock_release(&news->lock);
    return before;
}

static bool is_on(struct ct_news *news)
{
    return atomic_load_explicit(&news->on, memory_order_acquire);
}

/* Counts a piece of news and signals it. The lock keeps the word from going away meanwhile. */
static void told(struct ct_news *news)
{
    atomic_fetch_add_explicit(&news->told, 1, memory_order_seq_cst);
    ct_lock_acquire(&news->lock);
    if (news->wake != NULL) {
        ct_wake_signal(news->wake);
    }
    ct_lock_release(&news->lock);
}

static void note_death(struct ct_news *news, uint32_t id)
{
    uint32_t n = atomic_load_explicit(&news->ndead, memory_order_relaxed);
    if (n < news->cap && id < news->cap) {
        news->dead[n] = id;
        atomic_store_explicit(&news->ndead, n + 1, memory_order_seq_cst);
    }
}

void ct_news_dead(struct ct_news *news, uint32_t id)
{
    if (is_on(news)) {
        note_death(news, id);
        told(news);
    }
}

void ct_news_no_start(struct ct_news *news, uint32_t id)
{
    if (is_on(news)) {
        note_death(news, id);
        atomic_store_explicit(&news->no_start, true, memory_order_seq_cst);
        told(news);
    }
}

void ct_news_may_leave(struct ct_news *news)
{
    if (is_on(news)) {
        atomic_store_explicit(&news->may_leave, true, memory_order_seq_cst);
        told(news);
    }
}
