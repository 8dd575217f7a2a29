/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running the loop until something has happened on it, or another thread has said that it will not.
 * That thread sets a flag and signals a word; while the loop sleeps its bell, an event of the loop,
 * takes the place of the word (base/wait.h).
 */
#include <sys/eventfd.h>
#include <unistd.h>

#include "pmi/wire/wire.h"

static void on_rung(evutil_socket_t fd, short what, void *arg)
{
    uint64_t times;
    (void)what, (void)arg;
    (void)!read(fd, &times, sizeof times);
}

int ct_loop_stop_init(struct ct_loop *loop, struct ct_loop_stop *stop, const _Atomic bool *flag)
{
    *stop = (struct ct_loop_stop){.flag = flag, .bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (stop->bell < 0) {
        return CTRAN_ERR_SYSTEM;
    }
    (void)event_assign(&stop->rung, loop->base, stop->bell, EV_READ | EV_PERSIST, on_rung, NULL);
    if (event_add(&stop->rung, NULL) != 0) {
        (void)close(stop->bell);
        return CTRAN_ERR_NO_MEM;
    }
    loop->stop = stop;
    return CTRAN_SUCCESS;
}

void ct_loop_stop_fini(struct ct_loop *loop)
{
    (void)event_del(&loop->stop->rung);
    (void)close(loop->stop->bell);
    loop->stop = NULL;
}

static bool is_stopped(const struct ct_loop_stop *stop)
{
    return atomic_load_explicit(stop->flag, memory_order_seq_cst);
}

bool ct_loop_until(struct ct_loop *loop, const bool *done)
{
    struct ct_loop_stop *stop = loop->stop;
    while (!*done && (stop == NULL || !is_stopped(stop))) {
        if (stop == NULL) {
            (void)event_base_loop(loop->base, EVLOOP_ONCE);
            continue;
        }
        ct_wake_announce_bell(&stop->wake, stop->bell);
        if (!is_stopped(stop)) {
            (void)event_base_loop(loop->base, EVLOOP_ONCE);
        }
        ct_wake_cancel(&stop->wake);
    }
    return *done;
}
