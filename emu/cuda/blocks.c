/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads for what may wait: the blocks of kernels and the functions of the program. They are
 * made as needed and kept. A launch gets a thread for each block up to what the device holds at
 * a time; a thread that has ended its block takes the next.
 */
#include "emu.h"
#include "kernel.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

struct job {
    void (*run)(void *);
    void       *arg;
    struct job *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  more = PTHREAD_COND_INITIALIZER;
static struct job     *jobs;
static unsigned        idle; /* threads that wait, less jobs that are there for them */

void emu_thread_make(void *(*run)(void *), void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t  thread;
    const bool made = pthread_create(&thread, NULL, run, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!made) {
        fprintf(stderr, "emulated CUDA: no thread for a device's work; raise the limit\n");
        abort();
    }
    pthread_detach(thread);
}

static void *serve(void *first)
{
    struct job *job = first;
    for (;;) {
        job->run(job->arg);
        free(job);
        pthread_mutex_lock(&lock);
        idle++;
        while (jobs == NULL) {
            pthread_cond_wait(&more, &lock);
        }
        job = jobs;
        jobs = job->next;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

void emu_thread_run(void (*run)(void *), void *arg)
{
    struct job *job = malloc(sizeof *job);
    if (job == NULL) {
        abort();
    }
    *job = (struct job){.run = run, .arg = arg};
    pthread_mutex_lock(&lock);
    const bool taken = idle > 0;
    if (taken) {
        idle--;
        job->next = jobs;
        jobs = job;
        pthread_cond_signal(&more);
    }
    pthread_mutex_unlock(&lock);
    if (!taken) {
        emu_thread_make(serve, job);
    }
}

static void end(struct emu_op *op)
{
    emu_lock();
    emu_op_end(op);
    emu_workers_wake();
    emu_unlock();
}

struct launch {
    struct emu_op *op;
    size_t         blocks;
    atomic_size_t  next;
    atomic_uint    lanes; /* threads that still work on it */
};

static void run_block(const struct emu_work *work, size_t i, void *shared)
{
    const unsigned  *grid = work->kernel.grid, *threads = work->kernel.threads;
    struct emu_block block = {
        .grid = {grid[0], grid[1], grid[2]},
        .index = {(unsigned)(i % grid[0]), (unsigned)(i / grid[0] % grid[1]),
                  (unsigned)(i / grid[0] / grid[1])},
        .threads = {threads[0], threads[1], threads[2]},
        .shared_bytes = work->kernel.shared_bytes,
        .shared = shared,
    };
    work->kernel.function->kernel->run(&block, work->kernel.params);
}

static pthread_cond_t room = PTHREAD_COND_INITIALIZER;
static unsigned       resident; /* lanes that have begun */

static void take_room(void)
{
    pthread_mutex_lock(&lock);
    while (emu_set.resident != 0 && resident >= emu_set.resident) {
        pthread_cond_wait(&room, &lock);
    }
    resident++;
    pthread_mutex_unlock(&lock);
}

static void give_room(void)
{
    pthread_mutex_lock(&lock);
    resident--;
    pthread_cond_signal(&room);
    pthread_mutex_unlock(&lock);
}

static void run_lane(void *arg)
{
    struct launch         *launch = arg;
    const struct emu_work *work = launch->op->work;
    take_room();
    for (size_t i; (i = atomic_fetch_add(&launch->next, 1)) < launch->blocks;) {
        void *shared = work->kernel.shared_bytes > 0 ? calloc(1, work->kernel.shared_bytes) : NULL;
        run_block(work, i, shared);
        free(shared);
    }
    give_room();
    if (atomic_fetch_sub(&launch->lanes, 1) == 1) {
        emu_segments_close();
        end(launch->op);
        free(launch);
    }
}

void emu_kernel_start(struct emu_op *op)
{
    const struct emu_work *work = op->work;
    struct launch         *launch = malloc(sizeof *launch);
    if (launch == NULL) {
        abort();
    }
    launch->op = op;
    launch->blocks = (size_t)work->kernel.grid[0] * work->kernel.grid[1] * work->kernel.grid[2];
    atomic_init(&launch->next, 0);
    const size_t   most = (size_t)emu_set.sms * EMU_BLOCKS_A_SM;
    const unsigned lanes = (unsigned)(launch->blocks < most ? launch->blocks : most);
    atomic_init(&launch->lanes, lanes);
    emu_segments_open();
    for (unsigned i = 0; i < lanes; i++) {
        emu_thread_run(run_lane, launch);
    }
}

static void run_host(void *arg)
{
    struct emu_op *op = arg;
    op->work->host.run(op->work->host.arg);
    end(op);
}

void emu_host_start(struct emu_op *op)
{
    emu_thread_run(run_host, op);
}
