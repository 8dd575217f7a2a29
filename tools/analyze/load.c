/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dumps into a job. A file is mapped, taken dump by dump, and let go, so that a hundred thousand
 * dumps need the room of what is kept of them. What a dump says has been checked by
 * src/trace/image.h; here ranks, communicators and texts get numbers of the job.
 */
#include "tools/analyze/analyze.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void *an_more(void *at, uint32_t n, uint32_t *room, size_t entry_bytes)
{
    if (n < *room) {
        return at;
    }
    *room = *room == 0 ? 16 : 2 * *room;
    at = reallocarray(at, *room, entry_bytes);
    if (at == NULL) {
        fprintf(stderr, "ctran_analyze: out of memory\n");
        exit(1);
    }
    return at;
}

void *an_alloc(size_t n, size_t entry_bytes)
{
    void *at = calloc(n > 0 ? n : 1, entry_bytes);
    if (at == NULL) {
        fprintf(stderr, "ctran_analyze: out of memory\n");
        exit(1);
    }
    return at;
}

/* ---- one dump -------------------------------------------------------------------------------- */

static uint32_t intern(struct an_job *job, const char *text)
{
    struct an_name *name;
    HASH_FIND_STR(job->by_text, text, name);
    if (name == NULL) {
        name = an_alloc(1, sizeof *name);
        (void)snprintf(name->text, sizeof name->text, "%s", text);
        name->number = job->nnames;
        job->names = an_more(job->names, job->nnames, &job->room_names, sizeof(void *));
        job->names[job->nnames++] = name;
        HASH_ADD_STR(job->by_text, text, name);
    }
    return name->number;
}

static struct an_comm *find_comm(const struct an_job *job, uint64_t id)
{
    struct an_comm *comm;
    HASH_FIND(hh, job->by_id, &id, sizeof id, comm);
    return comm;
}

/* The communicator of a place. NULL: dumps contradict each other about its size. */
static struct an_comm *comm_of(struct an_job *job, const struct ct_trace_comm *c)
{
    struct an_comm *comm = find_comm(job, c->id);
    if (comm == NULL && c->n <= job->size) {
        comm = an_alloc(1, sizeof *comm);
        comm->id = c->id;
        comm->n = c->n;
        comm->index = job->ncomms;
        comm->member = an_alloc(c->n, sizeof *comm->member);
        memset(comm->member, 0xff, c->n * sizeof *comm->member);
        job->comms = an_more(job->comms, job->ncomms, &job->room_comms, sizeof(void *));
        job->comms[job->ncomms++] = comm;
        HASH_ADD(hh, job->by_id, id, sizeof comm->id, comm);
    }
    return comm != NULL && comm->n == c->n ? comm : NULL;
}

/* Members of whom there may be no dump are known by the runs of one who is there. */
static void take_members(struct an_comm *comm, const struct ct_trace_comm *c, uint32_t rank)
{
    if (c->nruns > 0 && comm->member[c->me == 0 && c->n > 1] == AN_NONE) {
        for (uint32_t i = 0; i < c->n; i++) {
            const uint32_t member = ct_trace_comm_member(c, i);
            comm->member[i] = comm->member[i] == AN_NONE ? member : comm->member[i];
        }
    }
    comm->member[c->me] = rank;
}

static void take_comms(struct an_job *job, const struct ct_trace_image *image)
{
    struct an_rank *r = &job->ranks[image->h.rank];
    r->first_place = job->nplaces;
    for (uint32_t i = 0; i < image->h.table[CT_TRACE_COMMS].count; i++) {
        struct ct_trace_comm c;
        struct an_comm      *comm = ct_trace_image_comm(image, i, &c) ? comm_of(job, &c) : NULL;
        if (comm != NULL) {
            take_members(comm, &c, image->h.rank);
            job->places =
                an_more(job->places, job->nplaces, &job->room_places, sizeof *job->places);
            job->places[job->nplaces++] = (struct an_place){comm->index, c.me, c.started};
        }
    }
    r->nplaces = job->nplaces - r->first_place;
}

static uint64_t wall_of(const struct ct_trace_image *image, uint64_t mono_ns)
{
    return mono_ns + (image->h.taken.wall_ns - image->h.taken.mono_ns);
}

static void take_calls(struct an_job *job, const struct ct_trace_image *image,
                       const uint32_t *names)
{
    struct an_rank *r = &job->ranks[image->h.rank];
    r->first_call = job->ncalls;
    for (uint32_t i = 0; i < image->h.table[CT_TRACE_CALLS].count; i++) {
        struct ct_trace_call c;
        struct an_comm *comm = ct_trace_image_call(image, i, &c) ? find_comm(job, c.comm) : NULL;
        if (comm == NULL) {
            continue;
        }
        const bool over = c.state == CT_TRACE_CALL_OVER;
        job->calls = an_more(job->calls, job->ncalls, &job->room_calls, sizeof *job->calls);
        job->calls[job->ncalls++] = (struct an_call){
            .comm = comm->index,
            .flags = c.flags,
            .number = c.number,
            .bytes = c.bytes,
            .start_ns = wall_of(image, ct_trace_image_ns(image, c.start)),
            .end_ns = over && c.end != 0 ? wall_of(image, ct_trace_image_ns(image, c.end)) : 0,
            .over = over,
            .root = c.root,
            .error = c.error,
            .name = names[c.name],
            .type = names[c.type],
            .op = names[c.op],
            .algorithm = names[c.algorithm],
        };
    }
    r->ncalls = job->ncalls - r->first_call;
}

static void take_waits(struct an_job *job, const struct ct_trace_image *image,
                       const uint32_t *names)
{
    struct an_rank *r = &job->ranks[image->h.rank];
    r->first_wait = job->nwaits;
    for (uint32_t i = 0; i < image->h.table[CT_TRACE_WAITS].count; i++) {
        struct ct_trace_wait w;
        if (!ct_trace_image_wait(image, i, &w)) {
            continue;
        }
        job->waits = an_more(job->waits, job->nwaits, &job->room_waits, sizeof *job->waits);
        struct an_wait *out = &job->waits[job->nwaits++];
        *out = (struct an_wait){.name = names[w.name],
                                .npending = w.npending,
                                .nitems = w.nitems,
                                .comm = w.comm,
                                .since_ns = wall_of(image, w.since_ns)};
        memcpy(out->item, w.item, sizeof out->item);
    }
    r->nwaits = job->nwaits - r->first_wait;
}

static enum an_state state_of(const struct ct_trace_header *h)
{
    switch (h->process) {
    case CT_TRACE_PROCESS_STOPPED:
        return AN_STOPPED;
    case CT_TRACE_PROCESS_ENDED:
        return h->life == CT_TRACE_LIFE_LEFT && h->process_detail == 0 ? AN_LEFT : AN_ENDED;
    case CT_TRACE_PROCESS_ABSENT:
        return AN_ABSENT;
    default:
        return h->life == CT_TRACE_LIFE_LEFT ? AN_LEFT : AN_RUNS;
    }
}

/* A dump of a rank that the job has already: the later one counts. */
static bool is_older(const struct an_job *job, const struct ct_trace_image *image)
{
    const struct an_rank *r = &job->ranks[image->h.rank];
    return r->state != AN_NO_DUMP && r->taken_ns > image->h.taken.wall_ns;
}

static const char *take_dump(struct an_job *job, const struct ct_trace_image *image)
{
    uint32_t names[CT_TRACE_MAX_NAMES] = {0};
    if (job->size == 0) {
        job->size = image->h.size;
        job->ranks = an_alloc(job->size, sizeof *job->ranks);
        (void)snprintf(job->id, sizeof job->id, "%s", image->h.job);
        (void)intern(job, ""); /* number 0: none */
    }
    if (image->h.size != job->size || strcmp(image->h.job, job->id) != 0) {
        return "it is of another job than the dumps before it";
    }
    if (is_older(job, image)) {
        return NULL;
    }
    struct an_rank *r = &job->ranks[image->h.rank];
    job->ndumps += r->state == AN_NO_DUMP;
    r->state = state_of(&image->h);
    r->detail = image->h.process_detail;
    r->pid = image->h.owner;
    r->lost = image->h.lost;
    r->taken_ns = image->h.taken.wall_ns;
    (void)snprintf(r->host, sizeof r->host, "%s", image->h.host);
    (void)snprintf(r->why, sizeof r->why, "%s", image->h.why);
    for (uint32_t i = 1; i < image->h.table[CT_TRACE_NAMES].count; i++) {
        names[i] = intern(job, ct_trace_image_name(image, i));
    }
    take_comms(job, image);
    take_calls(job, image, names);
    take_waits(job, image, names);
    return NULL;
}

/* ---- files ----------------------------------------------------------------------------------- */

bool an_load_bytes(struct an_job *job, const char *name, const void *bytes, size_t len)
{
    char why[128];
    for (size_t at = 0; at < len;) {
        struct ct_trace_image image;
        const size_t          n =
            ct_trace_image_read(&image, (const char *)bytes + at, len - at, why, sizeof why);
        const char *fault = n == 0 ? why : take_dump(job, &image);
        if (fault != NULL) {
            fprintf(stderr, "ctran_analyze: %s, byte %zu: %s\n", name, at, fault);
            return false;
        }
        at += n;
    }
    return true;
}

/* All of a stream, in memory of the caller's; NULL with errno. */
static char *read_all(int fd, size_t *len)
{
    size_t room = 64 << 10;
    char  *at = malloc(room);
    *len = 0;
    for (ssize_t n = 1; at != NULL && n != 0;) {
        n = read(fd, at + *len, room - *len);
        if (n < 0 && errno != EINTR) {
            free(at);
            return NULL;
        }
        *len += n > 0 ? (size_t)n : 0;
        if (*len == room) {
            room *= 2;
            char *more = realloc(at, room);
            if (more == NULL) {
                free(at);
            }
            at = more;
        }
    }
    return at;
}

static bool load_fd(struct an_job *job, const char *name, int fd)
{
    size_t len;
    char  *bytes = read_all(fd, &len);
    if (bytes == NULL) {
        fprintf(stderr, "ctran_analyze: cannot read %s: %s\n", name, strerror(errno));
        return false;
    }
    bool ok = an_load_bytes(job, name, bytes, len);
    free(bytes);
    return ok;
}

static bool load_file(struct an_job *job, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        fprintf(stderr, "ctran_analyze: cannot open %s: %s\n", path, strerror(errno));
        return false;
    }
    bool ok = load_fd(job, path, fd);
    close(fd);
    return ok;
}

static bool load_folder(struct an_job *job, const char *path)
{
    DIR *dir = opendir(path);
    bool ok = dir != NULL;
    if (!ok) {
        fprintf(stderr, "ctran_analyze: cannot open %s: %s\n", path, strerror(errno));
        return false;
    }
    for (struct dirent *e = readdir(dir); ok && e != NULL; e = readdir(dir)) {
        char        file[PATH_MAX];
        struct stat st;
        (void)snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.' && stat(file, &st) == 0 && S_ISREG(st.st_mode)) {
            ok = load_file(job, file);
        }
    }
    (void)closedir(dir);
    return ok;
}

bool an_load(struct an_job *job, const char *path)
{
    struct stat st;
    if (strcmp(path, "-") == 0) {
        return load_fd(job, "standard input", STDIN_FILENO);
    }
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? load_folder(job, path)
                                                       : load_file(job, path);
}

/* ---- questions ------------------------------------------------------------------------------- */

const struct an_place *an_place_of(const struct an_job *job, uint32_t rank, uint32_t comm)
{
    const struct an_rank  *r = &job->ranks[rank];
    const struct an_place *found = NULL;
    for (uint32_t i = 0; i < r->nplaces; i++) {
        const struct an_place *p = &job->places[r->first_place + i];
        found = p->comm == comm ? p : found;
    }
    return found;
}

const struct an_call *an_call_of(const struct an_job *job, uint32_t rank, uint32_t comm,
                                 uint64_t number)
{
    const struct an_rank *r = &job->ranks[rank];
    for (uint32_t i = 0; i < r->ncalls; i++) {
        const struct an_call *c = &job->calls[r->first_call + i];
        if (c->comm == comm && c->number == number) {
            return c;
        }
    }
    return NULL;
}

void an_free(struct an_job *job)
{
    HASH_CLEAR(hh, job->by_id);
    HASH_CLEAR(hh, job->by_text);
    for (uint32_t i = 0; i < job->ncomms; i++) {
        free(job->comms[i]->member);
        free(job->comms[i]);
    }
    for (uint32_t i = 0; i < job->nnames; i++) {
        free(job->names[i]);
    }
    free(job->comms);
    free(job->names);
    free(job->ranks);
    free(job->places);
    free(job->calls);
    free(job->waits);
}
