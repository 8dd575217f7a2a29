/* SPDX-License-Identifier: BSD-3-Clause */
/* Dumps, from the reader to the verdicts: what is handed on lies within its bounds, and any job
 * can be judged and printed. */
#include "fuzz.h"

#include "tools/analyze/analyze.h"

/* All that an image has, by way of the functions that check it. */
static void look_at(const void *bytes, size_t len)
{
    struct ct_trace_image image;
    struct ct_trace_comm  c;
    struct ct_trace_call  call;
    struct ct_trace_wait  w;
    char                  why[128];
    const size_t          n = ct_trace_image_read(&image, bytes, len, why, sizeof why);
    FUZZ_CHECK(n <= len);
    for (uint32_t i = 0; n > 0 && i < image.h.table[CT_TRACE_COMMS].count; i++) {
        if (ct_trace_image_comm(&image, i, &c)) {
            FUZZ_CHECK(c.me < c.n);
            FUZZ_CHECK(c.nruns == 0 || ct_trace_comm_member(&c, c.n - 1) < image.h.size);
        }
    }
    for (uint32_t i = 0; n > 0 && i < image.h.table[CT_TRACE_CALLS].count; i++) {
        if (ct_trace_image_call(&image, i, &call)) {
            const char *name = ct_trace_image_name(&image, call.name);
            FUZZ_CHECK(strlen(name) < CT_TRACE_NAME);
            (void)ct_trace_image_ns(&image, call.start);
        }
    }
    for (uint32_t i = 0; n > 0 && i < image.h.table[CT_TRACE_WAITS].count; i++) {
        FUZZ_CHECK(!ct_trace_image_wait(&image, i, &w) || w.nitems <= CT_TRACE_ITEMS);
    }
}

/* ---- jobs ------------------------------------------------------------------------------------ */

enum { RANKS = 5, COMMS = 3, CALLS = 4, NAMES = 4, WAITS = 2 };

struct dump {
    struct ct_trace_header h;
    struct ct_trace_comm   comms[COMMS];
    struct ct_trace_call   calls[CALLS];
    char                   names[NAMES][CT_TRACE_NAME];
    struct ct_trace_wait   waits[WAITS];
};

static void draw_comms(struct fuzz *f, struct dump *d)
{
    for (uint32_t i = 0; i < COMMS; i++) {
        struct ct_trace_comm *c = &d->comms[i];
        c->id = fuzz_below(f, 4);
        c->n = fuzz_below(f, 7);
        c->me = fuzz_below(f, 6);
        c->started = fuzz_below(f, 6);
        c->state = fuzz_below(f, 3);
        c->nruns = fuzz_below(f, 8);
        c->run[0] = (struct ct_trace_run){fuzz_below(f, 6), fuzz_below(f, 6),
                                          (int32_t)fuzz_below(f, 5) - 2};
        c->run[1] = (struct ct_trace_run){fuzz_below(f, 6), fuzz_below(f, 3), 1};
    }
}

static void draw_calls(struct fuzz *f, struct dump *d)
{
    for (uint32_t i = 0; i < CALLS; i++) {
        struct ct_trace_call *c = &d->calls[i];
        c->comm = fuzz_below(f, 4);
        c->number = fuzz_below(f, 4);
        c->bytes = fuzz_below(f, 3);
        c->start = fuzz_number(f, 3);
        c->end = fuzz_number(f, 3);
        c->root = (int32_t)fuzz_below(f, 8) - 2;
        c->name = (uint16_t)fuzz_below(f, 6);
        c->op = (uint16_t)fuzz_below(f, 6);
        c->state = fuzz_below(f, 4);
        c->error = (int32_t)fuzz_below(f, 2);
        c->flags = fuzz_below(f, 4);
    }
}

static void draw_waits(struct fuzz *f, struct dump *d)
{
    for (uint32_t i = 0; i < WAITS; i++) {
        struct ct_trace_wait *w = &d->waits[i];
        w->since_ns = fuzz_number(f, 2);
        w->state = fuzz_below(f, 3);
        w->name = (uint16_t)fuzz_below(f, 6);
        w->nitems = fuzz_below(f, 4);
        w->npending = fuzz_below(f, 12);
        w->comm = fuzz_below(f, 4);
        for (uint32_t k = 0; k < 3; k++) {
            w->item[k] = (struct ct_trace_wait_item){fuzz_below(f, 4),
                                                     8,
                                                     fuzz_below(f, 6),
                                                     (int32_t)fuzz_below(f, 9) - 3,
                                                     (int32_t)fuzz_below(f, 4) - 1,
                                                     0};
        }
    }
}

static void draw(struct fuzz *f, struct dump *d)
{
    static const char *const texts[NAMES] = {"", "ctran_bcast", "ctran_allreduce", "<b>"};
    memset(d, 0, sizeof *d);
    ct_trace_pack_blank(&d->h, fuzz_below(f, RANKS), RANKS);
    d->h.process = fuzz_below(f, 6);
    d->h.process_detail = (uint32_t)fuzz_number(f, 2);
    d->h.life = fuzz_below(f, 3);
    d->h.taken = (struct ct_trace_moment){fuzz_number(f, 3), fuzz_number(f, 3), fuzz_number(f, 4)};
    d->h.total_bytes = sizeof *d;
    const uint32_t offsets[] = {offsetof(struct dump, comms), offsetof(struct dump, calls),
                                offsetof(struct dump, names), offsetof(struct dump, waits)};
    const uint32_t counts[] = {COMMS, CALLS, NAMES, WAITS};
    for (unsigned i = 0; i < CT_TRACE_TABLES; i++) {
        d->h.table[i].offset = offsets[i];
        d->h.table[i].count = counts[i];
    }
    for (unsigned i = 0; i < NAMES; i++) {
        (void)snprintf(d->names[i], sizeof d->names[i], "%s", texts[i]);
    }
    draw_comms(f, d);
    draw_calls(f, d);
    draw_waits(f, d);
}

static void judge(const struct an_job *job)
{
    static FILE     *out;
    struct an_report report;
    if (out == NULL) {
        out = fopen("/dev/null", "w");
        FUZZ_CHECK(out != NULL);
    }
    FUZZ_CHECK(an_judge(&report, job));
    for (uint32_t i = 0; i < report.n; i++) {
        const struct an_verdict *v = &report.verdicts[i];
        FUZZ_CHECK(v->nranks > 0 && v->title.at != NULL && v->behind < RANKS);
        for (uint32_t k = 0; k < v->nranks; k++) {
            FUZZ_CHECK(v->ranks[k] < RANKS);
        }
    }
    an_print_text(&report, out);
    an_print_json(&report, out);
    an_print_html(&report, out);
    an_print_timeline(job, out);
    an_report_free(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz   f = {data, size};
    struct an_job job = {.min_age_ns = 0};
    struct dump   d[RANKS];
    if (fuzz_below(&f, 8) == 0) {
        size_t   len;
        uint8_t *bytes = fuzz_bytes(&f, f.left, &len);
        look_at(bytes, len);
        free(bytes);
        return 0;
    }
    const uint32_t n = 1 + fuzz_below(&f, RANKS);
    job.min_age_ns = fuzz_below(&f, 2);
    for (uint32_t i = 0; i < n; i++) {
        draw(&f, &d[i]);
        look_at(&d[i], sizeof d[i]);
    }
    if (an_load_bytes(&job, "dumps", d, n * sizeof d[0])) {
        judge(&job);
    }
    an_free(&job);
    return 0;
}
