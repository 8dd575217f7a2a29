/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives over a shm_coll (shm_coll.h). The algorithms are those that the stepper of run.c
 * executes, but nothing is sent: their rounds become scripts (script.h), which are executed here.
 * Short calls come again and again: their scripts are kept.
 *
 * Where a vector is longer than what can be put in at a time, its blocks are cut into chunks as the
 * stepper cuts them, one operation each; an algorithm of two shots makes two of each.
 */
#define CT_FOLDER "run"
#include <assert.h>
#include <stdlib.h>

#include "coll/run/shm_coll.h"
#include "pmi/pmi.h"

/* Of a note, in a slot, after which comes another line, or the key. */
enum { NOTE_BYTES = offsetof(struct ct_shm_coll_note, key) };
_Static_assert((offsetof(struct ct_shm_coll_slot, data) + NOTE_BYTES) % CT_CACHE_LINE == 0,
               "a note and its flag are one line");

struct operation {
    struct ct_shm_coll         *shm;
    struct ct_run_args         *args;
    bool                        exchange; /* every rank reads every other's input */
    bool                        bulk;     /* what is put in is there, not in slots, or is exposed */
    bool                        brief; /* bulk: but what is put in is in slots, behind the notes */
    size_t                      skipped; /* of a slot's data, what comes before the input */
    bool                        past;    /* what is read goes past the caches */
    bool                        exposed; /* bulk: no rank puts anything in (shm_coll_attach.c) */
    struct ct_shm_coll_poll     poll;
    struct ct_shm_coll_attached in;             /* bulk: what is read */
    char                       *base[CT_INPUT]; /* of SEND, RECV, TMP */
    struct ct_script_of         of;
    size_t                      nchunks;
    size_t                      first; /* acts of the first shot */
};

/* ---- acts ------------------------------------------------------------------------------------ */

static char *input_of(const struct operation *o, uint32_t rank)
{
    const struct ct_shm_coll *b = o->shm;
    const size_t              part = rank * CT_SHM_COLL_PARTS + b->parts % CT_SHM_COLL_PARTS;
    return CT_LIKELY(!o->bulk || o->brief) ? ct_shm_coll_slot_of(b, rank)->data + o->skipped
                                           : b->bulk.base + part * b->part_bytes;
}

static char *at(const struct operation *o, struct ct_place place)
{
    char *base = place.in < CT_INPUT ? o->base[place.in] : input_of(o, place.in - CT_INPUT);
    return base + place.at_bytes;
}

/* Until all are through with what the slot held, and with `puts` the part. */
static int await_room(const struct operation *o, bool puts)
{
    struct ct_shm_coll *b = o->shm;
    uint64_t            least = b->k - 1;
    uint64_t            need = b->k > CT_SHM_COLL_DEPTH ? b->k - CT_SHM_COLL_DEPTH : 0;
    if (puts && b->part_k[b->parts % CT_SHM_COLL_PARTS] > need) {
        need = b->part_k[b->parts % CT_SHM_COLL_PARTS];
    }
    if (CT_LIKELY(b->safe >= need)) {
        return CTRAN_SUCCESS;
    }
    for (uint32_t r = 0; r < b->ctx->n; r++) {
        const _Atomic uint64_t *done = &b->shared->member[r].done;
        int rc = r == b->ctx->me ? CTRAN_SUCCESS : ct_shm_coll_await(b, r, done, need);
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
        uint64_t seen = atomic_load_explicit(done, memory_order_acquire);
        least = r != b->ctx->me && seen < least ? seen : least;
    }
    b->safe = least;
    return CTRAN_SUCCESS;
}

static void post(struct ct_shm_coll *b)
{
    b->unread = true;
    ct_placement_take(&b->ctx->p->job->placement);
    ct_shm_coll_set(b, &ct_shm_coll_slot_of(b, b->ctx->me)->flag, b->k);
}

static void copy(char *dst, const char *src, size_t len)
{
    if (len == sizeof(uint64_t)) { /* as messages are that wait for nothing but their flag */
        memcpy(dst, src, sizeof(uint64_t));
    } else if (dst != src) {
        ct_block_copy(dst, src, len);
    }
}

/* Copies into a slot, all of whose lines another core has read: they are prefetched at once. */
static void put(char *dst, const char *src, size_t len)
{
    enum { LEAST = CT_CACHE_LINE };
    for (size_t i = 0; len >= LEAST && i < len; i += CT_CACHE_LINE) {
        ct_line_own(dst + i);
    }
    copy(dst, src, len);
}

/* An input is read once, and what is put in is written for a reader. */
static void copy_to(const struct operation *o, const struct ct_script_act *a)
{
    if (CT_UNLIKELY(o->past) && a->dst.in == CT_RECV) {
        ct_nt_copy(at(o, a->dst), at(o, a->a), a->len);
    } else {
        copy(at(o, a->dst), at(o, a->a), a->len);
    }
}

/* ---- acts on long input ---------------------------------------------------------------------- */

static bool is_attached(const struct operation *o, struct ct_place place)
{
    return place.in >= CT_INPUT && place.in != CT_INPUT + o->shm->ctx->me && o->in.note->addr != 0;
}

static int put_long(struct operation *o, const char *from, const struct ct_script_act *a)
{
    struct ct_shm_coll *b = o->shm;
    if (o->exposed || ct_shm_coll_exposes(b, o->args)) {
        ct_shm_coll_expose(b, from, (size_t)a->dst.at_bytes, a->len);
        return CTRAN_SUCCESS;
    }
    const int rc = o->brief ? CTRAN_SUCCESS : await_room(o, true); /* there is a slot */
    if (rc == CTRAN_SUCCESS) {
        ct_shm_coll_put(at(o, a->dst), from, a->len);
    }
    return rc;
}

/* Where all expose, one operation reads all there is: messages do not wait for the whole of it. */
static int read_long(struct operation *o, const struct ct_script_act *a)
{
    enum { LEAST = 1 << 20 };
    struct ct_shm_coll *b = o->shm;
    const int rc = ct_shm_coll_attach(b, &o->in, (size_t)a->a.at_bytes, at(o, a->dst), a->len);
    if (o->exposed && a->len >= LEAST) {
        ct_shm_coll_drive(b);
    }
    return rc;
}

static int copy_long(struct operation *o, const struct ct_script_act *a)
{
    if (is_attached(o, a->a)) {
        return read_long(o, a);
    }
    if (a->dst.in < CT_INPUT) {
        copy_to(o, a);
        return CTRAN_SUCCESS;
    }
    return put_long(o, at(o, a->a), a);
}

static int reduce_long(struct operation *o, const struct ct_script_act *a)
{
    const bool first = is_attached(o, a->a);
    if (!first && !is_attached(o, a->b)) {
        ct_reduction_apply(&o->args->op, at(o, a->dst), at(o, a->a), at(o, a->b), a->len);
        return CTRAN_SUCCESS;
    }
    const struct ct_shm_coll_sum sum = {
        .op = &o->args->op,
        .dst = at(o, a->dst),
        .own = at(o, first ? a->b : a->a),
        .first = first,
        .elems = a->len,
        .elem_bytes = o->args->layout.elem_bytes,
    };
    return ct_shm_coll_reduce(o->shm, &o->in, (size_t)(first ? a->a : a->b).at_bytes, &sum);
}

/* Room for input, and its note. */
static int begin_long(struct operation *o, const struct ct_script_act *a)
{
    struct ct_shm_coll *b = o->shm;
    const int           rc = await_room(o, a->len > 0);
    if (rc == CTRAN_SUCCESS) {
        const struct ct_shm_coll_member *own = &b->shared->member[b->ctx->me];
        b->note.addr = 0;
        b->note.blind = atomic_load_explicit(&own->blind, memory_order_relaxed) != 0;
        ct_shm_coll_count(&o->poll, &b->note);
    }
    return rc;
}

/* All at once: the slot's line goes back and forth as often as it is written while others poll. */
static void post_long(struct ct_shm_coll *b)
{
    const size_t key_len = b->note.addr != 0 ? b->note.key_len : 0;
    memcpy(&ct_shm_coll_slot_of(b, b->ctx->me)->note, &b->note, NOTE_BYTES + key_len);
    post(b);
}

static int await_long(struct operation *o, const struct ct_script_act *a)
{
    const int rc = ct_shm_coll_await_input(o->shm, a->peer, o->exchange, a->len);
    if (rc == CTRAN_SUCCESS) {
        if (a->mate) {
            ct_shm_coll_place_beside(o->shm, a->peer, a->len);
        }
        free(o->in.asked);
        o->in.asked = NULL;
        o->in.rank = a->peer;
        o->in.note = &ct_shm_coll_slot_of(o->shm, a->peer)->note;
        ct_shm_coll_count(&o->poll, o->in.note);
    }
    return rc;
}

static int play_long(struct operation *o, const struct ct_script_act *a)
{
    switch (a->kind) {
    case CT_DO_ROOM:
        return begin_long(o, a);
    case CT_DO_POST:
        post_long(o->shm);
        return CTRAN_SUCCESS;
    case CT_DO_AWAIT:
        return await_long(o, a);
    case CT_DO_COPY:
        return copy_long(o, a);
    default:
        return reduce_long(o, a);
    }
}

/* Executes an operation with long input. */
static int play_all_long(struct operation *o, const struct ct_script_act *acts, size_t n)
{
    int rc = CTRAN_SUCCESS;
    o->poll.nblind = 0;
    memset(&o->in, 0, sizeof o->in);
    for (const struct ct_script_act *a = acts; a < acts + n && rc == CTRAN_SUCCESS; a++) {
        rc = play_long(o, a);
    }
    free(o->in.asked);
    if (rc == CTRAN_SUCCESS && o->poll.asked) {
        ct_shm_coll_conclude(o->shm, &o->poll);
    }
    return rc;
}

/* ---- operations ------------------------------------------------------------------------------ */

static int play(const struct operation *o, const struct ct_script_act *acts, size_t n)
{
    int rc = CTRAN_SUCCESS;
    for (const struct ct_script_act *a = acts; a < acts + n && rc == CTRAN_SUCCESS; a++) {
        switch (a->kind) {
        case CT_DO_ROOM:
            rc = await_room(o, false);
            break;
        case CT_DO_POST:
            post(o->shm);
            break;
        case CT_DO_AWAIT:
            rc = ct_shm_coll_await_input(o->shm, a->peer, o->exchange, a->len);
            break;
        case CT_DO_COPY:
            (a->dst.in < CT_INPUT ? copy : put)(at(o, a->dst), at(o, a->a), a->len);
            break;
        default:
            ct_reduction_apply(&o->args->op, at(o, a->dst), at(o, a->a), at(o, a->b), a->len);
        }
    }
    return rc;
}

/* The script is played as operation k + 1. Well or not, others may write over what it read. */
static int play_shot(struct operation *o, const struct ct_script_act *acts, size_t n)
{
    struct ct_shm_coll *b = o->shm;
    b->k++;
    int rc = CT_LIKELY(!o->bulk) ? play(o, acts, n) : play_all_long(o, acts, n);
    if (o->bulk) {
        b->part_k[b->parts++ % CT_SHM_COLL_PARTS] = b->k;
    }
    if (o->exchange && rc == CTRAN_SUCCESS) {
        b->safe = b->k - 1;
    }
    const bool exposed = o->bulk && o->in.note != NULL && o->in.note->addr != 0;
    if (!o->exchange || rc != CTRAN_SUCCESS || exposed) {
        ct_shm_coll_set(b, &b->shared->member[b->ctx->me].done, b->k);
    }
    return rc;
}

/* Executes rounds `from` to `to` of a chunk and adds their acts to the script. */
static int write_and_play(struct operation *o, uint32_t from, uint32_t to)
{
    struct ct_script *s = &o->shm->script;
    const size_t      begin = s->n;
    const int         rc = ct_script_write(s, &o->of, from, to);
    return rc == CTRAN_SUCCESS ? play_shot(o, s->acts + begin, s->n - begin) : rc;
}

/* Writes the script of a chunk while playing it. The first shot has the first o->first acts. */
static int play_chunk(struct operation *o, uint32_t rounds)
{
    const bool     two = (o->args->algo->traits & CT_TWO_SHOT) != 0;
    const uint32_t half = two ? rounds / 2 : rounds;
    o->shm->script.n = 0;
    o->of.result = false;
    int rc = write_and_play(o, 0, half);
    o->first = o->shm->script.n;
    o->of.result = two;
    return rc == CTRAN_SUCCESS && two ? write_and_play(o, half, rounds) : rc;
}

/* ---- its form -------------------------------------------------------------------------------- */

/* Input begins right behind its flag, unless it takes no more lines to begin with the next one:
 * then nothing of it is stored to two lines at once. Measured, two far cores, 64 bytes by stores of
 * 32, a program of its own: 205 ns behind the flag, 177 in a line of their own. A rank's own block
 * is not put in where each has another one. */
static size_t skipped(const struct operation *o, size_t bytes, size_t blocks)
{
    const bool   apart = (o->args->algo->colls & (CT_ALLTOALL | CT_REDUCE_SCATTER)) != 0;
    const size_t put = apart && blocks > 1 ? bytes / blocks * (blocks - 1) : bytes;
    const size_t over = put % CT_CACHE_LINE;
    const bool   same = put > 0 && (over == 0 || over > NOTE_BYTES);
    return o->brief || (!o->bulk && same && bytes <= CT_SHM_COLL_BYTES - NOTE_BYTES) ? NOTE_BYTES
                                                                                     : 0;
}

/* Of a part, what is made use of. Where a few ranks put in what one of them adds up, the parts of
 * all are to stay in half of its own cache; what one of them sends to all may take as much again.
 */
static size_t room_of(const struct operation *o, size_t bytes)
{
    enum { FEW = 4, LEAST = 4096 };
    const struct ct_shm_coll *b = o->shm;
    const bool                few = b->ctx->n > 2 && b->ctx->n <= FEW;
    const uint32_t            colls = o->args->algo->colls;
    const size_t              own = b->caches.private_bytes;
    const size_t              sum = ct_max_size(own / (2 * CT_SHM_COLL_PARTS * FEW), LEAST);
    return few && colls == CT_REDUCE                      ? ct_min_size(b->part_bytes, sum)
           : few && colls == CT_BCAST && bytes <= own / 4 ? ct_min_size(b->part_bytes, 2 * sum)
                                                          : b->part_bytes;
}

/* How much a rank puts in decides where, and in how many chunks; all ranks know it alike. */
static void cut(struct operation *o, struct ct_view *view)
{
    const struct ct_layout *l = &o->args->layout;
    o->nchunks = 1;
    if (o->args->signal) {
        return;
    }
    const bool   even = l->count > 0;
    const size_t longest = ct_layout_longest(l), blocks = o->of.one ? 1 : l->nblk;
    const size_t elems = even && !o->of.one ? l->count : blocks * longest;
    view->chunk_elems = longest;
    const size_t bytes = elems * l->elem_bytes;
    o->bulk = bytes > CT_SHM_COLL_BYTES ||
              (bytes > o->shm->slot_bytes && ct_shm_coll_has_parts(o->shm, l->elem_bytes));
    o->brief = o->bulk && o->shm->ctx->n == 2 && bytes <= CT_SHM_COLL_BYTES - NOTE_BYTES;
    o->skipped = skipped(o, bytes, blocks);
    o->of.whole = o->exposed;
    if (CT_UNLIKELY(o->bulk && !o->exposed)) {
        const size_t others = ct_max_size(blocks - 1, 1);
        const size_t most = room_of(o, bytes) / (others * l->elem_bytes);
        view->chunk_elems = ct_min_size(ct_max_size(most, 1), longest);
        o->nchunks = ct_div_up(longest, view->chunk_elems);
    }
    o->of.stride_bytes = o->bulk || !even ? view->chunk_elems * l->elem_bytes : 0;
}

/* Whether the blocks of an alltoall are out of the caches anyhow before anybody looks at them: as
 * they are if they are a few times what the caches hold, with all that has the same core. Measured:
 * up to twice that it costs on 2 cores, from four times on it gains a fifth. */
static bool is_beyond_caches(const struct operation *o)
{
    enum { TIMES = 3 };
    const struct ct_run_args *args = o->args;
    const struct ct_shm_coll *b = o->shm;
    const size_t              cpus = args->ctx->p->job->ncpus;
    const size_t              sharers = ct_div_up(args->ctx->n, ct_max_size(cpus, 1));
    const size_t              bytes = args->layout.count * args->layout.elem_bytes;
    return o->bulk && args->algo->colls == CT_ALLTOALL && b->caches.share_bytes > 0 &&
           2 * bytes / TIMES * sharers > b->caches.share_bytes;
}

/* Room for the blocks of scratch that are written, one behind the other. */
static int reserve(struct ct_shm_coll *b, size_t bytes)
{
    if (bytes <= b->tmp_bytes) {
        return CTRAN_SUCCESS;
    }
    free(b->tmp);
    b->tmp_bytes = ct_round_up(bytes, CT_CACHE_LINE);
    b->tmp = aligned_alloc(CT_CACHE_LINE, b->tmp_bytes);
    b->tmp_bytes = b->tmp != NULL ? b->tmp_bytes : 0;
    return b->tmp != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
}

/* Where a member is known to be dead no collective succeeds any more, waiting or not. */
static int begin(struct ct_run_args *args, size_t tmp_bytes)
{
    struct ct_process *p = args->ctx->p;
    ct_domain_enter(p);
    ct_ep_tell(p);
    int rc = ct_p2p_over(p, args->ctx->id);
    ct_domain_leave(p);
    rc = rc == CTRAN_SUCCESS ? reserve(args->ctx->shm, tmp_bytes) : rc;
    return rc == CTRAN_SUCCESS ? ct_reduction_begin(&args->op) : rc;
}

/* A rank that is always last finds all flags set already, and still has to answer messages. */
static void drive_now_and_then(struct ct_shm_coll *b)
{
    enum { EVERY = 64 };
    if (CT_UNLIKELY(b->k - b->driven >= EVERY)) {
        b->driven = b->k;
        if (CT_UNLIKELY(!b->barred)) {
            ct_shm_coll_learn_bars(b);
        }
        ct_shm_coll_drive(b);
    }
}

/* args are completed by what the algorithm wants to know. */
static void describe(struct operation *o, struct ct_view *view)
{
    struct ct_run_args   *args = o->args;
    const struct ct_algo *algo = args->algo;
    args->env.n = args->ctx->n;
    args->env.me = args->ctx->me;
    args->env.nblk = algo->nblk(&args->env);
    ct_layout_cut(&args->layout, args->env.nblk);
    o->of.one = (algo->colls & (CT_GATHER | CT_ALLGATHER)) != 0;
    o->exchange = (algo->colls & (CT_BARRIER | CT_ALLREDUCE | CT_ALLGATHER | CT_ALLTOALL |
                                  CT_REDUCE_SCATTER)) != 0;
    view->ntmp = algo->tmp(&args->env);
    assert(view->ntmp <= args->ctx->n && algo->lanes == 1);
    cut(o, view);
    o->past = is_beyond_caches(o);
}

/* ---- scripts that are kept ------------------------------------------------------------------- */

static struct ct_script_key key_of(const struct ct_run_args *args)
{
    const struct ct_layout *l = &args->layout;
    return (struct ct_script_key){.algo = args->algo,
                                  .count = l->count,
                                  .elem_bytes = l->elem_bytes,
                                  .first = {l->buf[CT_SEND].first, l->buf[CT_RECV].first},
                                  .root = args->env.root,
                                  .radix = args->env.radix,
                                  .inplace = args->env.inplace,
                                  .ordered = args->env.ordered};
}

static bool same_key(const struct ct_script_key *a, const struct ct_script_key *b)
{
    return a->algo == b->algo && a->count == b->count && a->root == b->root &&
           a->elem_bytes == b->elem_bytes && a->first[0] == b->first[0] &&
           a->first[1] == b->first[1] && a->radix == b->radix && a->inplace == b->inplace &&
           a->ordered == b->ordered;
}

/* Where it would be kept. */
static struct ct_kept **shelf_of(struct ct_shm_coll *b, const struct ct_script_key *key)
{
    uint64_t h = ((uintptr_t)key->algo >> 4) + key->count * 31 + key->root * 7;
    return &b->kept[(h ^ h >> 5) % CT_SHM_COLL_KEPT];
}

static size_t kept_bytes(const struct ct_kept *kept)
{
    return kept != NULL ? sizeof *kept + kept->n * sizeof kept->acts[0] : 0;
}

/* Memory for a script of n acts in its place, where another one may be. NULL: it is not kept. */
static struct ct_kept *make_kept(struct ct_shm_coll *b, const struct ct_script_key *key, size_t n)
{
    struct ct_kept **shelf = shelf_of(b, key);
    struct ct_kept  *kept = malloc(sizeof *kept + n * sizeof kept->acts[0]);
    if (kept == NULL) {
        return NULL;
    }
    kept->n = n;
    if (b->kept_bytes - kept_bytes(*shelf) + kept_bytes(kept) > CT_SHM_COLL_KEPT_BYTES) {
        ct_shm_coll_forget_scripts(b);
    }
    b->kept_bytes += kept_bytes(kept) - kept_bytes(*shelf);
    free(*shelf);
    return *shelf = kept;
}

/* Keeps a copy of the script that has just been written, if another call may need it. */
static void keep(const struct operation *o, const struct ct_script_key *key)
{
    const struct ct_script *script = &o->shm->script;
    const bool              counts = o->args->layout.count == 0 && !o->args->signal;
    if (o->nchunks > 1 || o->past || counts) {
        return;
    }
    struct ct_kept *kept = make_kept(o->shm, key, script->n);
    if (kept != NULL) {
        *kept = (struct ct_kept){.key = *key,
                                 .exchange = o->exchange,
                                 .bulk = o->bulk,
                                 .brief = o->brief,
                                 .skipped = o->skipped,
                                 .exposed = o->exposed,
                                 .first = o->first,
                                 .n = script->n};
        memcpy(kept->acts, script->acts, script->n * sizeof script->acts[0]);
    }
}

/* ---- a collective ---------------------------------------------------------------------------- */

/* The usual case: it was there before. */
static int play_kept(struct operation *o, const struct ct_kept *kept)
{
    int rc = begin(o->args, 0);
    o->exchange = kept->exchange;
    o->bulk = kept->bulk;
    o->brief = kept->brief;
    o->skipped = kept->skipped;
    o->base[CT_TMP] = o->shm->tmp;
    rc = rc == CTRAN_SUCCESS ? play_shot(o, kept->acts, kept->first) : rc;
    return rc == CTRAN_SUCCESS && kept->first < kept->n
               ? play_shot(o, kept->acts + kept->first, kept->n - kept->first)
               : rc;
}

static int play_new(struct operation *o, const struct ct_script_key *key)
{
    struct ct_run_args *args = o->args;
    struct ct_view      view = {.layout = &args->layout};
    o->of = (struct ct_script_of){.args = args, .view = &view};
    describe(o, &view);
    const uint32_t rounds = args->algo->rounds(&args->env, 0);
    int            rc = begin(args, view.ntmp * view.chunk_elems * args->layout.elem_bytes);
    o->base[CT_TMP] = view.tmp = o->shm->tmp;
    for (size_t c = 0; c < o->nchunks && rc == CTRAN_SUCCESS; c++) {
        view.chunk = c;
        rc = play_chunk(o, rounds);
    }
    if (rc == CTRAN_SUCCESS) {
        keep(o, key);
    }
    return rc;
}

int ct_shm_coll_run(struct ct_run_args *args)
{
    struct ct_shm_coll *b = args->ctx->shm;
    struct operation    o;
    args->ctx->seq++;
    if (CT_UNLIKELY(b->broken != CTRAN_SUCCESS)) {
        return b->broken;
    }
    o.shm = b;
    o.args = args;
    o.bulk = false;
    o.brief = false;
    o.skipped = 0;
    o.past = false;
    o.exposed = ct_shm_coll_all_expose(b, args, &o.poll);
    o.base[CT_SEND] = args->layout.buf[CT_SEND].base;
    o.base[CT_RECV] = args->layout.buf[CT_RECV].base;
    const struct ct_script_key key = key_of(args);
    const struct ct_kept      *kept = *shelf_of(b, &key);
    const bool usable = kept != NULL && same_key(&kept->key, &key) && kept->exposed == o.exposed;
    int        rc = usable ? play_kept(&o, kept) : play_new(&o, &key);
    rc = CT_LIKELY(b->exposed_k == 0) ? rc : ct_shm_coll_take_back(b, rc);
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS)) {
        ct_shm_coll_break(args->ctx, rc); /* out of step with the others from now on */
    }
    drive_now_and_then(b);
    ct_reduction_end(&args->op);
    return rc;
}
